// Package c is the only package of the module that uses cgo: a raw layer over the C ABI of libtandem (tandem.h), which
// it opens at run time. No C type leaves it, and it knows nothing of scopes' or tensors' Go side.
//
// tandem.h, forward.h and forward.c are written by capi/generator; shim.h and shim.c hold what saves a second crossing
// from Go to C.
package c
