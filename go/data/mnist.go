package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// MNISTFields of the records that [ConvertMNIST] writes: "label" [batch] of Int64 and "image" [batch, 1, 28, 28] of
// Float32, normalized by the mean and standard deviation of the training set.
func MNISTFields() []Field {
	return []Field{
		{Name: "label", DType: gotorch.Uint8, Out: gotorch.Int64},
		{Name: "image", DType: gotorch.Uint8, Shape: []int{1, 28, 28}, Out: gotorch.Float32, Scale: 1.0 / 255,
			Mean: 0.1307, Std: 0.3081},
	}
}

// ConvertMNIST writes samples [begin, begin + count), count -1: all from begin, of IDX files, plain or .gz, to a
// RecordIO file. Errors: gotorch.ErrDataLoss for a wrong magic or size; then there is no file.
func ConvertMNIST(images, labels, output string, begin, count int) (written int, err error) {
	written, failure := c.MNISTToRecordIO(images, labels, output, begin, count)
	return written, bridge.Error(failure)
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
	BatchSize int    // of each rank; 0: 64
	Cache     string // where converted files lie; "": beside the originals
	Seed      uint64 // of the shuffle
	Threads   int    // that fill batches; 0: 1
}

// MNIST opens the digits in a folder: train.recordio and test.recordio, or IDX files (train-images-idx3-ubyte,
// t10k-images-idx3-ubyte and their labels, plain or .gz), which rank 0 converts while the others wait. Where only the
// 10,000 of t10k are, the first 9,000 are for training and the last 1,000 for tests. Each rank gets its part of the
// training samples; test is the whole test set, in order.
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
	trainPath, testPath := filepath.Join(folder, "train.recordio"), filepath.Join(folder, "test.recordio")
	if !exists(trainPath) || !exists(testPath) {
		trainPath, testPath = filepath.Join(o.Cache, "train.recordio"), filepath.Join(o.Cache, "test.recordio")
		if rank == 0 {
			err = convertMNIST(folder, trainPath, testPath)
		}
		// Even after an error: the others wait for nothing else, and miss the files themselves.
		if size > 1 {
			err = errors.Join(err, ranks.Barrier(ctx))
		}
		if err != nil {
			return nil, nil, err
		}
		if rank != 0 && !(exists(trainPath) && exists(testPath)) {
			return nil, nil, &gotorch.Error{Code: gotorch.ErrNotFound, Op: "data.MNIST", Message: fmt.Sprintf(
				"rank 0 did not convert the digits in %s, or %s is not the same folder for this rank; see rank 0's error",
				folder, o.Cache)}
		}
	}
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

func convertMNIST(folder, train, test string) error {
	if exists(train) && exists(test) {
		return nil
	}
	testImages, testLabels, err := idx(folder, "t10k")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(train), 0o755); err != nil {
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
