// Package data reads training data: RecordIO files, in a shuffled order that is the same whatever the number of
// processes, into batches that threads of libtandem fill ahead of time.
package data
