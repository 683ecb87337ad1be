package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/recordio"
)

const mnistSide = 28 // of a picture, in pixels

// MNISTFields of the records that [ConvertMNIST] writes: "label" [batch] of Int64 and "image" [batch, 1, 28, 28] of
// Float32, normalized by the mean and standard deviation of the training set.
func MNISTFields() []Field {
	return []Field{
		{Name: "label", DType: gotorch.Uint8, Out: gotorch.Int64},
		{Name: "image", DType: gotorch.Uint8, Shape: []int{1, mnistSide, mnistSide}, Out: gotorch.Float32, Scale: 1.0 / 255,
			Mean: 0.1307, Std: 0.3081},
	}
}

// ConvertMNIST writes samples [begin, begin + count), count -1: all from begin, of IDX files, plain or .gz, to a
// RecordIO file: a record is the label's byte, then the pixels' bytes. Errors: gotorch.ErrDataLoss for a wrong magic or
// size, gotorch.ErrOutOfRange; then there is no file.
func ConvertMNIST(images, labels, output string, begin, count int) (written int, err error) {
	record := Field{Name: "record", DType: gotorch.Uint8, Shape: []int{1 + mnistSide*mnistSide}, Out: gotorch.Uint8}
	digits, err := Records([]string{images, labels}, []Field{record}, FileOptions{Format: "mnist"})
	if err != nil {
		return 0, err
	}
	defer digits.Close()
	if begin < 0 || count < -1 || begin > digits.Len() || count > digits.Len()-begin {
		return 0, &gotorch.Error{Code: gotorch.ErrOutOfRange, Op: "data.ConvertMNIST", Message: fmt.Sprintf(
			"%d samples from %d on are not within the %d of %s", count, begin, digits.Len(), images)}
	}
	if count == -1 {
		count = digits.Len() - begin
	}
	file, err := recordio.Create(output)
	if err != nil {
		return 0, err
	}
	defer file.Discard()
	for i := range count {
		sample, err := digits.Get(begin + i)
		if err != nil {
			return 0, err
		}
		_, err = file.Write(gotorch.ToSlice[uint8](sample[0]))
		sample[0].Close()
		if err != nil {
			return 0, err
		}
	}
	return count, file.Close()
}

// Ranks is what a [dist.ProcessGroup] tells of the processes that share the work; nil is one process.
//
// [dist.ProcessGroup]: https://pkg.go.dev/tandem.example/gotorch/dist#ProcessGroup
type Ranks interface {
	Rank() int
	Size() int
	Barrier(ctx context.Context) error
}

// MNISTOptions of [MNIST].
type MNISTOptions struct {
	BatchSize int              // of each rank; 0: 64
	Cache     string           // where converted files lie; "": beside the originals
	Seed      uint64           // of the shuffle
	Threads   gotorch.Opt[int] // as in [Options]
}

// MNIST opens the digits in a folder: train.recordio and test.recordio, or IDX files (train-images-idx3-ubyte,
// t10k-images-idx3-ubyte and their labels, plain or .gz), which rank 0 converts while the others wait; where these do not
// see what it made, on other hosts, each converts its own. Where only the 10,000 of t10k are, the first 9,000 are for
// training and the last 1,000 for tests. Each rank gets its part of the training samples; test is the whole test set, in
// order. All ranks call it: of more than one, each calls Barrier once, whatever lies in the folder. Errors: ErrNotFound
// without digits.
func MNIST(ctx context.Context, folder string, ranks Ranks, o MNISTOptions) (train, test *Loader, err error) {
	if folder == "" {
		return nil, nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "data.MNIST",
			Message: "give the folder that holds the digits"}
	}
	if o.Cache == "" {
		o.Cache = folder
	}
	rank, size := 0, 1
	if ranks != nil {
		rank, size = ranks.Rank(), ranks.Size()
	}
	if rank == 0 {
		err = convertMNIST(folder, o.Cache)
	}
	// Whatever a rank sees, for the others may see something else; and even after an error: they wait for nothing else,
	// and come to an error of their own.
	if size > 1 {
		err = errors.Join(err, ranks.Barrier(ctx))
	}
	// Ranks of one host may write the same at once: files appear whole, and are the same.
	if err == nil && rank != 0 {
		err = convertMNIST(folder, o.Cache)
	}
	if err != nil {
		return nil, nil, err
	}
	if !hasMNIST(folder) {
		folder = o.Cache
	}
	trainPath, testPath := recordsOfMNIST(folder)
	train, err = Open([]string{trainPath}, MNISTFields(), Options{BatchSize: or(o.BatchSize, 64), PerRank: true,
		Rank: rank, WorldSize: size, Seed: o.Seed, Tail: DropTail, Threads: o.Threads})
	if err != nil {
		return nil, nil, err
	}
	test, err = Open([]string{testPath}, MNISTFields(), Options{BatchSize: 250, Shuffle: gotorch.Some(false)})
	if err != nil {
		train.Close()
		return nil, nil, err
	}
	return train, test, nil
}

func recordsOfMNIST(folder string) (train, test string) {
	return filepath.Join(folder, "train.recordio"), filepath.Join(folder, "test.recordio")
}

// hasMNIST says whether both of a folder's RecordIO files are there.
func hasMNIST(folder string) bool {
	train, test := recordsOfMNIST(folder)
	return exists(train) && exists(test)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// idx finds a pair of IDX files.
func idx(folder, set string) (images, labels string, err error) {
	for _, ending := range []string{"", ".gz"} {
		images = filepath.Join(folder, set+"-images-idx3-ubyte"+ending)
		labels = filepath.Join(folder, set+"-labels-idx1-ubyte"+ending)
		if exists(images) && exists(labels) {
			return images, labels, nil
		}
	}
	return "", "", &gotorch.Error{Code: gotorch.ErrNotFound, Op: "data.MNIST", Message: fmt.Sprintf(
		"%s has neither train.recordio and test.recordio nor %s-images-idx3-ubyte and %s-labels-idx1-ubyte (plain or .gz)",
		folder, set, set)}
}

// convertMNIST unless that is not needed, or was done before.
func convertMNIST(folder, cache string) error {
	if hasMNIST(folder) || hasMNIST(cache) {
		return nil
	}
	train, test := recordsOfMNIST(cache)
	testImages, testLabels, err := idx(folder, "t10k")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	if images, labels, err := idx(folder, "train"); err == nil {
		if _, err := ConvertMNIST(images, labels, train, 0, -1); err != nil {
			return err
		}
		_, err = ConvertMNIST(testImages, testLabels, test, 0, -1)
		return err
	}
	if _, err := ConvertMNIST(testImages, testLabels, train, 0, 9000); err != nil {
		return err
	}
	_, err = ConvertMNIST(testImages, testLabels, test, 9000, -1)
	return err
}
