package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/recordio"
)

// What `tandem record import` makes of a picture.
var schema = data.Schema{Format: data.MsgpackFormat, Fields: []data.SchemaField{
	{Name: "image", Kind: data.Image}, {Name: "label", DType: gotorch.Int64}}}

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

// openPictures decodes a file's pictures in the loader's threads: to train on, a random part of each, perhaps mirrored; else
// its middle.
func openPictures(path string, training bool, size, batchSize, threads int, seed uint64, group *dist.ProcessGroup,
	device gotorch.Device) (*data.Loader, error) {
	fit := data.Fit{Kind: data.FitCenterCrop, Height: size, Width: size, Shorter: size * 8 / 7}
	options := data.Options{BatchSize: batchSize, PerRank: true, Rank: group.Rank(), WorldSize: group.Size(),
		Shuffle: gotorch.Some(training), Seed: seed, Threads: gotorch.Some(threads), Device: device,
		Transforms: []data.Transform{data.Normalize{Fields: []string{"image"}, Scale: gotorch.Some(1. / 255),
			Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}}}} // of ImageNet
	if training {
		fit = data.Fit{Kind: data.FitRandomResizedCrop, Height: size, Width: size, Flip: true}
		options.Tail = data.DropTail
	}
	dataset, err := data.FromSchema([]string{path}, &schema, data.SchemaOptions{Fits: map[string]data.Fit{"image": fit}})
	if err != nil {
		return nil, err
	}
	defer dataset.Close()
	return data.NewLoader(dataset, options)
}
