// Package need does not compile where gotorch cannot run, and says why: without it the compiler would name a type of
// package c that is not there.
package need
