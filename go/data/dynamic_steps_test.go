package data_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

func TestDynamicTransforms(t *testing.T) {
	path, schema := pictures(t, 10, -1)
	set := must(data.FromSchema([]string{path}, schema, fit))
	defer set.Close()
	var rows atomic.Int32
	loader := dynamic(t, set, hashStore(t), data.DynamicOptions{BatchSize: 10, MicroBatch: 4, Threads: 2,
		PrefetchBytes: 1 << 20, Transforms: []data.Transform{
			data.Normalize{Fields: []string{"picture"}, Mean: []float64{0.5}, Std: []float64{0.25}, Scale: gotorch.Some(1. / 255)},
			data.BatchStep{Adds: []string{"twice"}, Apply: func(batch *data.Batch) error {
				rows.Add(int32(len(batch.Randomness)))
				label := batch.Field("label")
				batch.Tensors = append(batch.Tensors, label.Add(label))
				return nil
			}},
		}})
	var labels []int
	for step, err := range loader.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for part, err := range gotorch.Scoped(step.Parts()) {
			if err != nil {
				t.Fatal(err)
			}
			if picture := part.Field("picture"); picture.DType() != gotorch.Float32 || picture.Size(0) != part.Count {
				t.Error(picture.DType(), picture.Shape())
			}
			twice := gotorch.ToSlice[int](part.Field("twice"))
			for i, label := range gotorch.ToSlice[int](part.Field("label")) {
				if twice[i] != 2*label {
					t.Errorf("twice %d is %d", label, twice[i])
				}
				labels = append(labels, label)
			}
		}
		if _, err := step.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(labels)
	if !slices.Equal(labels, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || rows.Load() < 10 {
		t.Error(labels, rows.Load())
	}
	s, err := loader.Statistics()
	if err != nil || s.Delivered != 3 || s.Samples < 10 || s.Threads != 2 || s.Decoding <= 0 || s.Transforming <= 0 ||
		s.MostBytesReady > 1<<20 || !strings.HasSuffix(s.String(), "is the bottleneck") {
		t.Errorf("%+v %v %v", s, s, err)
	}
}

func TestDynamicStepsFail(t *testing.T) {
	set, store := dataset(t, 4), hashStore(t)
	own := errors.New("no luck")
	loader := dynamic(t, set, store, data.DynamicOptions{BatchSize: 4, MicroBatch: 2, Transforms: []data.Transform{
		data.BatchStep{Apply: func(*data.Batch) error { return own }}}})
	for step, err := range loader.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range step.Parts() {
			if !errors.Is(err, own) {
				t.Fatal(err)
			}
		}
		break
	}
	if items, err := loader.Quarantine(); err != nil || len(items) != 0 {
		t.Error(items, err)
	}
	_, err := data.NewDynamicLoader(set, store, data.DynamicOptions{BatchSize: 4, MicroBatch: 2, Name: "other",
		Transforms: []data.Transform{data.ToFloat{Fields: []string{"number"}, Scale: gotorch.Some(-0.5)},
			data.OneHot{Fields: []string{"number"}, Classes: -1}}})
	var ours *gotorch.Error
	if !errors.As(err, &ours) || ours.Code != gotorch.ErrInvalidArgument || !strings.Contains(err.Error(), "OneHot") {
		t.Error(err)
	}
}
