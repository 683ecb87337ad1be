// Package data reads training data: records of files, or samples of the program's own, in a shuffled order that is the
// same whatever the number of processes, into batches that threads of libtandem fill ahead of time, decoding pictures and
// other samples and applying transforms on the way.
package data
