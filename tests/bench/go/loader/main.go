// Our side of `loader`: batches of digits. The peers are peers/loader.py.
//
//	bench-loader prepare FOLDER         writes FOLDER/records.recordio from FOLDER/images and FOLDER/labels
//	bench-loader epochs FOLDER EPOCHS   deals them out in shuffled batches of normalized floats
//
// The second writes rank-0.json into the folder BENCH_OUT: samples a second, and sums of what one epoch gives. Every
// epoch opens the file anew, so that all its checksums are verified in each.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/bench/rankreport"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/recordio"
)

const (
	pixels    = 28 * 28
	batchSize = 64
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "prepare":
		return prepare(args[1])
	case len(args) == 3 && args[0] == "epochs":
		epochs, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return measure(args[1], epochs)
	}
	return fmt.Errorf("usage: bench-loader prepare FOLDER | epochs FOLDER EPOCHS")
}

func prepare(folder string) error {
	images, err := os.ReadFile(filepath.Join(folder, "images"))
	if err != nil {
		return err
	}
	labels, err := os.ReadFile(filepath.Join(folder, "labels"))
	if err != nil {
		return err
	}
	writer, err := recordio.Create(filepath.Join(folder, "records.recordio"), recordio.WriterOptions{})
	if err != nil {
		return err
	}
	defer writer.Discard()
	for i, label := range labels {
		if _, err := writer.Write(append([]byte{label}, images[i*pixels:(i+1)*pixels]...)); err != nil {
			return err
		}
	}
	return writer.Close()
}

func measure(folder string, epochs int) error {
	path := filepath.Join(folder, "records.recordio")
	sums, _, err := epoch(path, 0, true) // files into the page cache
	if err != nil {
		return err
	}
	samples := 0
	start := time.Now()
	for number := range epochs {
		_, n, err := epoch(path, number, false)
		if err != nil {
			return err
		}
		samples += n
	}
	rate := float64(samples) / time.Since(start).Seconds()
	return rankreport.Write(0, map[string]any{"rate": rate, "values": sums})
}

// epoch gives the sums of labels and of pixels, if asked for, and the number of samples.
func epoch(path string, number int, sum bool) (sums []float64, samples int, err error) {
	loader, err := data.Open([]string{path}, data.MNISTFields(), data.Options{BatchSize: batchSize, Seed: 1})
	if err != nil {
		return nil, 0, err
	}
	defer loader.Close()
	var labels, values float64
	for batch, err := range gotorch.Scoped(loader.Epoch(context.Background(), number)) {
		if err != nil {
			return nil, 0, err
		}
		samples += batch.Count
		if sum {
			labels += batch.Field("label").Sum().Item()
			values += batch.Field("image").To(gotorch.Float64).Sum().Item()
		}
	}
	return []float64{labels, values}, samples, nil
}
