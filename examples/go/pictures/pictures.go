// Package pictures reads what `tandem record import` makes of folders of pictures, one a class.
package pictures

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/recordio"
)

var schema = data.Schema{Format: data.MsgpackFormat, Fields: []data.SchemaField{
	{Name: "image", Kind: data.Image}, {Name: "label", DType: gotorch.Int64}}}

// Options of [Open].
type Options struct {
	Height, Width int // of what the network sees
	BatchSize     int // of each rank
	Threads       int // that decode pictures, of each rank
	Seed          uint64
	Device        gotorch.Device
}

// Open a folder's train.recordio and test.recordio, which must have the same classes. Batches have the fields "image"
// [batch, 3, height, width], normalized as for ImageNet, and "label" [batch]. Each rank gets its part of each batch: to train on,
// random parts of the pictures, perhaps mirrored; to test, their middles. Close both loaders.
func Open(folder string, group *dist.ProcessGroup, o Options) (train, test *data.Loader, names []string, err error) {
	trainPath, testPath := filepath.Join(folder, "train.recordio"), filepath.Join(folder, "test.recordio")
	if names, err = classes(trainPath); err != nil {
		return nil, nil, nil, err
	}
	testNames, err := classes(testPath)
	if err != nil {
		return nil, nil, nil, err
	}
	if !slices.Equal(names, testNames) {
		return nil, nil, nil, fmt.Errorf("%s has the classes %q, %s %q; they must be the same", trainPath, names, testPath, testNames)
	}
	if train, err = open(trainPath, true, group, o); err != nil {
		return nil, nil, nil, err
	}
	if train.Len() == 0 {
		err = fmt.Errorf("the %d training pictures do not fill one batch of %d for each of %d ranks; choose a smaller --batch-size",
			train.Samples(), o.BatchSize, group.Size())
	} else if test, err = open(testPath, false, group, o); err == nil {
		return train, test, names, nil
	}
	train.Close()
	return nil, nil, nil, err
}

// classes are the names that `tandem record import` has put into a file of version 2.
func classes(path string) ([]string, error) {
	reader, err := recordio.Open(path)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var names []string
	if err := json.Unmarshal([]byte(reader.Metadata()["classes"]), &names); err != nil || len(names) == 0 {
		return nil, fmt.Errorf("%s does not say which classes it has; make it with tandem record import FOLDER -o %s --version 2",
			path, filepath.Base(path))
	}
	return names, nil
}

func open(path string, training bool, group *dist.ProcessGroup, o Options) (*data.Loader, error) {
	fit := data.Fit{Kind: data.FitCenterCrop, Height: o.Height, Width: o.Width, Shorter: max(o.Height, o.Width) * 8 / 7}
	options := data.Options{BatchSize: o.BatchSize, PerRank: true, Rank: group.Rank(), WorldSize: group.Size(),
		Shuffle: gotorch.Some(training), Seed: o.Seed, Threads: gotorch.Some(o.Threads), Device: o.Device,
		Transforms: []data.Transform{data.Normalize{Fields: []string{"image"}, Scale: gotorch.Some(1. / 255),
			Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}}}} // of ImageNet
	if training {
		fit = data.Fit{Kind: data.FitRandomResizedCrop, Height: o.Height, Width: o.Width, Flip: true}
		options.Tail = data.DropTail
	}
	dataset, err := data.FromSchema([]string{path}, &schema, data.SchemaOptions{Fits: map[string]data.Fit{"image": fit}})
	if err != nil {
		return nil, err
	}
	defer dataset.Close()
	return data.NewLoader(dataset, options)
}
