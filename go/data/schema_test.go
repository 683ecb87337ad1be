package data_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/recordio"
)

// pictures writes records of a number and a JPEG of one gray, of different sizes; record bad has no JPEG.
func pictures(t *testing.T, n, bad int) (path string, schema *data.Schema) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pictures.recordio")
	schema = &data.Schema{Fields: []data.SchemaField{{Name: "label", DType: gotorch.Int64}, {Name: "picture", Kind: data.Image}}}
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	w, err := recordio.Create(path, recordio.WriterOptions{Version: 2, Schema: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	for i := range n {
		gray := image.NewGray(image.Rect(0, 0, 20+i, 30))
		for p := range gray.Pix {
			gray.Pix[p] = color.Gray{uint8(10 * i)}.Y
		}
		var file bytes.Buffer
		if err := jpeg.Encode(&file, gray, nil); err != nil {
			t.Fatal(err)
		}
		record := binary.LittleEndian.AppendUint64(nil, uint64(i))
		if i == bad {
			file.Truncate(3)
		}
		w.Write(append(record, file.Bytes()...))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, schema
}

var fit = data.SchemaOptions{Fits: map[string]data.Fit{
	"picture": {Kind: data.FitRandomResizedCrop, Height: 8, Width: 9, Flip: true, Scale: gotorch.Some([2]float64{0.5, 1})}}}

func schemaLoader(t *testing.T, paths []string, schema *data.Schema, o data.SchemaOptions, options data.Options) *data.Loader {
	t.Helper()
	dataset, err := data.FromSchema(paths, schema, o)
	if err != nil {
		t.Fatal(err)
	}
	defer dataset.Close()
	loader, err := data.NewLoader(dataset, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loader.Close() })
	return loader
}

// What docs/samples.md shows.
func loaderOfPictures(paths []string) (*data.Loader, error) {
	pictures, err := data.FromSchema(paths, nil, data.SchemaOptions{Fits: map[string]data.Fit{
		"picture": {Kind: data.FitRandomResizedCrop, Height: 224, Width: 224, Flip: true}}})
	if err != nil {
		return nil, err
	}
	defer pictures.Close()
	return data.NewLoader(pictures, data.Options{BatchSize: 64, Threads: gotorch.Some(8), Transforms: []data.Transform{
		data.Normalize{Fields: []string{"picture"}, Mean: []float64{0.485, 0.456, 0.406},
			Std: []float64{0.229, 0.224, 0.225}, Scale: gotorch.Some(1. / 255)}}})
}

func TestLoaderOfThePage(t *testing.T) {
	path, _ := pictures(t, 5, -1)
	loader, err := loaderOfPictures([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		if batch.Count != 5 || !slices.Equal(batch.Field("picture").Shape(), []int{5, 3, 224, 224}) {
			t.Error(batch.Count, batch.Field("picture").Shape())
		}
	}
}

func TestSchemaAndTransforms(t *testing.T) {
	path, schema := pictures(t, 10, -1)
	var calls atomic.Int32
	loader := schemaLoader(t, []string{path}, schema, fit, data.Options{BatchSize: 4, Threads: gotorch.Some(2), Transforms: []data.Transform{
		data.RandomHorizontalFlip{Fields: []string{"picture"}},
		data.Normalize{Fields: []string{"picture"}, Mean: []float64{0.5}, Std: []float64{0.25}, Scale: gotorch.Some(1. / 255)},
		data.BatchStep{Adds: []string{"twice"}, Apply: func(batch *data.Batch) error {
			calls.Add(1)
			label := batch.Field("label")
			if label.Size(0) != len(batch.Randomness) {
				t.Errorf("%d rows, %d numbers", label.Size(0), len(batch.Randomness))
			}
			batch.Tensors = append(batch.Tensors, label.Add(label))
			batch.Tensors[1] = batch.Field("picture").AddScalar(1)
			return nil
		}},
	}})
	var labels []int
	for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		picture := batch.Field("picture")
		if !slices.Equal(picture.Shape(), []int{batch.Count, 3, 8, 9}) || picture.DType() != gotorch.Float32 {
			t.Fatal(picture.Shape(), picture.DType())
		}
		twice := gotorch.ToSlice[int](batch.Field("twice"))
		values := gotorch.ToSlice[float32](picture)
		for i, label := range gotorch.ToSlice[int](batch.Field("label")) {
			want := (float32(10*label)/255-0.5)/0.25 + 1
			if got := values[i*3*8*9]; twice[i] != 2*label || got < want-0.05 || got > want+0.05 {
				t.Errorf("label %d: twice %d, pixel %v, want %v", label, twice[i], got, want)
			}
			labels = append(labels, label)
		}
	}
	slices.Sort(labels)
	if !slices.Equal(labels, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || calls.Load() != 3 {
		t.Error(labels, calls.Load())
	}
	s, err := loader.Statistics()
	if err != nil || s.Batches != 3 || s.Samples != 10 || s.Delivered != 3 || s.Threads != 2 || s.Decoding <= 0 ||
		s.Reading <= 0 || s.Transforming <= 0 || s.Bytes <= 0 || s.Bottleneck == data.UnknownBottleneck ||
		!strings.Contains(s.String(), "3 batches") || !strings.HasSuffix(s.String(), "is the bottleneck") {
		t.Errorf("%+v %v %v", s, s, err)
	}
}

func TestEveryTransform(t *testing.T) {
	path, schema := pictures(t, 3, -1)
	picture := []string{"picture"}
	loader := schemaLoader(t, []string{path}, schema, fit, data.Options{BatchSize: 3, Transforms: []data.Transform{
		data.RandomCrop{Fields: picture, Height: 8, Width: 8, Padding: 1, Fill: 3, Stream: 1},
		data.ColorJitter{Fields: picture, Brightness: gotorch.Some([2]float64{0.8, 1.2}), Hue: gotorch.Some([2]float64{-0.1, 0.1})},
		data.Resize{Fields: picture, Height: 6, Width: 7, Nearest: true},
		data.RandomResizedCrop{Fields: picture, Height: 5, Width: 6, Ratio: gotorch.Some([2]float64{1, 1})},
		data.CenterCrop{Fields: picture, Height: 3, Width: 4},
		data.ToFloat{Fields: picture},
		data.OneHot{Fields: []string{"label"}, Classes: 4, Smoothing: 0.1},
	}})
	for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		if got := batch.Field("picture").Shape(); !slices.Equal(got, []int{3, 3, 3, 4}) {
			t.Error(got)
		}
		if got := batch.Field("label"); !slices.Equal(got.Shape(), []int{3, 4}) || got.DType() != gotorch.Float32 {
			t.Error(got)
		}
	}
}

func TestCollate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "texts.recordio")
	w, err := recordio.Create(path, recordio.WriterOptions{Version: 2,
		Schema: `{"fields": [{"name": "text", "kind": "bytes"}]}`})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	for _, text := range []string{"abc", "d", "ef"} {
		w.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	first := func(o data.SchemaOptions) *data.Batch {
		loader := schemaLoader(t, []string{path}, nil, o, data.Options{BatchSize: 3, Shuffle: gotorch.Some(false)})
		for batch, err := range loader.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(batch.Close)
			return batch
		}
		t.Fatal("no batch")
		return nil
	}
	padded := first(data.SchemaOptions{Pads: map[string]data.Pad{"text": {Value: '.', MultipleOf: 4}}})
	if got := string(gotorch.ToSlice[byte](padded.Field("text"))); got != "abc.d...ef.." {
		t.Error(got)
	}
	if got := gotorch.ToSlice[int](padded.Field("text_lengths")); !slices.Equal(got, []int{3, 1, 2}) {
		t.Error(got)
	}
	if got := padded.Strings("text"); !slices.Equal(got, []string{"abc", "d", "ef"}) {
		t.Errorf("%q", got)
	}
	refuses := func(field, what string) {
		t.Helper()
		defer func() {
			if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), what) {
				t.Error(err)
			}
		}()
		padded.Strings(field)
	}
	refuses("text_lengths", "has no texts")
	// A step of the program's own may leave lengths that reach into the next row.
	at := slices.Index(padded.Tensors, padded.Field("text_lengths"))
	padded.Tensors[at] = gotorch.From([]int{5, 1, 2}, 3)
	refuses("text", "a length of 5")
	packed := first(data.SchemaOptions{Packs: map[string]data.Pack{"text": {Length: 4, Value: '.', Whole: true}}})
	if got := string(gotorch.ToSlice[byte](packed.Field("text"))); got != "abcdef.." {
		t.Error(got)
	}
}

// lines writes a file of these lines.
func lines(t *testing.T, name string, text ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(text, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSchemaOfLines(t *testing.T) {
	fields := []data.SchemaField{{Name: "x", DType: gotorch.Float32, Shape: []int{2}}, {Name: "text", Kind: data.Bytes},
		{Name: "tokens", DType: gotorch.Int64, Shape: []int{-1}}}
	ndjson := lines(t, "a.ndjson", `{"text": "one", "x": [1, 2.5], "tokens": [7], "more": {}}`, `{"x": [3, 4], "tokens": [8, 9], "text": "two"}`)
	csv := lines(t, "a.csv", "text;id;x0;x1;tokens", `one;1;1;2.5;7`, `"two";2;3;4;8;9`)
	for _, path := range []string{ndjson, csv} {
		schema := &data.Schema{Format: data.JSONFormat, Fields: fields}
		var o data.SchemaOptions
		if path == csv {
			schema = &data.Schema{Format: data.CSVFormat, Fields: fields, Separator: ";", Columns: []string{"text", "id", "x", "tokens"}}
			o.Files.Skip = 1
		}
		loader := schemaLoader(t, []string{path}, schema, o, data.Options{BatchSize: 2, Threads: gotorch.Some(2), Shuffle: gotorch.Some(false)})
		batches := 0
		for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
			if err != nil {
				t.Fatal(err)
			}
			if got := gotorch.ToSlice[float32](batch.Field("x")); !slices.Equal(got, []float32{1, 2.5, 3, 4}) {
				t.Error(path, got)
			}
			if got := gotorch.ToSlice[int](batch.Field("tokens")); !slices.Equal(got, []int{7, 0, 8, 9}) {
				t.Error(path, got)
			}
			if got := batch.Strings("text"); !slices.Equal(got, []string{"one", "two"}) {
				t.Errorf("%s %q", path, got)
			}
			batches++
		}
		if batches != 1 {
			t.Error(path, batches)
		}
	}
	damaged := lines(t, "b.ndjson", `{"x": [1, 2], "tokens": [], "text": ""}`, `{"x": [1, null], "tokens": [], "text": ""}`)
	loader := schemaLoader(t, []string{damaged}, &data.Schema{Format: data.JSONFormat, Fields: fields}, data.SchemaOptions{},
		data.Options{BatchSize: 2})
	for _, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
		var problem *gotorch.Error
		if !errors.As(err, &problem) || problem.Code != gotorch.ErrDataLoss || !strings.Contains(err.Error(), damaged) ||
			!strings.Contains(err.Error(), "record 1") || !strings.Contains(err.Error(), "'x' holds null") {
			t.Error(err)
		}
	}
	_, err := data.FromSchema([]string{ndjson}, &data.Schema{Format: data.JSONFormat,
		Fields: []data.SchemaField{{Name: "p", Kind: data.Image}}})
	if err == nil || !strings.Contains(err.Error(), "field 'p' is an image") {
		t.Error(err)
	}
}

// Of a field whose sequences are packed, a sample has all of its rows.
func TestASampleHasAllOfItsPackedFields(t *testing.T) {
	path := lines(t, "a.ndjson", `{"tokens": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}`, `{"tokens": [11]}`)
	schema := &data.Schema{Format: data.JSONFormat,
		Fields: []data.SchemaField{{Name: "tokens", DType: gotorch.Int64, Shape: []int{-1}}}}
	dataset := must(data.FromSchema([]string{path}, schema, data.SchemaOptions{Packs: map[string]data.Pack{"tokens": {Length: 4}}}))
	defer dataset.Close()
	sample := must(dataset.Get(0))
	wants := map[string][]int{
		"tokens":             {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0},
		"tokens_segment_ids": {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0},
		"tokens_positions":   {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0, 0},
		"tokens_cu_seqlens":  {0, 4, 8, 10, 12},
	}
	if len(sample) != len(wants) {
		t.Fatal(dataset.Names())
	}
	for i, name := range dataset.Names() {
		want, shape := wants[name], []int{3, 4}
		if name == "tokens_cu_seqlens" {
			shape = []int{5}
		}
		got := sample[i].To(gotorch.Int64)
		if !slices.Equal(got.Shape(), shape) || !slices.Equal(gotorch.ToSlice[int](got), want) {
			t.Errorf("%s is %v, not %v of shape %v", name, got, want, shape)
		}
	}
}

func TestErrorsOfBatches(t *testing.T) {
	path, schema := pictures(t, 4, 2)
	first := func(loader *data.Loader) (err error) {
		for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
			if err != nil {
				return err
			}
			batch.Close()
		}
		return nil
	}
	damaged := first(schemaLoader(t, []string{path}, schema, fit, data.Options{BatchSize: 2}))
	var problem *gotorch.Error
	if !errors.As(damaged, &problem) || problem.Code != gotorch.ErrDataLoss || !strings.Contains(damaged.Error(), path) ||
		!strings.Contains(damaged.Error(), "record 2") || !strings.Contains(damaged.Error(), "'picture'") {
		t.Error(damaged)
	}

	path, schema = pictures(t, 4, -1)
	with := func(step func(*data.Batch) error) error {
		return first(schemaLoader(t, []string{path}, schema, fit,
			data.Options{BatchSize: 2, Transforms: []data.Transform{data.BatchStep{Adds: []string{"more"}, Apply: step}}}))
	}
	mine := errors.New("mine")
	if err := with(func(*data.Batch) error { return mine }); !errors.Is(err, mine) {
		t.Error(err)
	}
	var thrown *gotorch.PanicError
	if err := with(func(b *data.Batch) error { panic(b.Count) }); !errors.As(err, &thrown) {
		t.Error(err)
	}
	if err := with(func(*data.Batch) error { return nil }); err == nil || !strings.Contains(err.Error(), "left 2 tensors") {
		t.Error(err)
	}
}

func TestSchemaMistakes(t *testing.T) {
	path, schema := pictures(t, 1, -1)
	refused := func(err error, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%v has no %q", err, part)
			}
		}
	}
	without, _ := numbers(t, 1)
	_, err := data.FromSchema([]string{without}, nil)
	refused(err, without, "no schema")
	_, err = data.FromSchema([]string{path}, &data.Schema{Fields: []data.SchemaField{{Name: "x", Kind: "movie"}}})
	refused(err, "'x'", "movie")
	_, err = data.FromSchema([]string{path}, schema, data.SchemaOptions{Pads: map[string]data.Pad{"label": {}}})
	refused(err, "'label'")
	dataset, err := data.FromSchema([]string{path}, schema, fit)
	if err != nil {
		t.Fatal(err)
	}
	defer dataset.Close()
	if got := dataset.Names(); !slices.Equal(got, []string{"label", "picture"}) {
		t.Error(got)
	}
	_, err = data.NewLoader(dataset, data.Options{BatchSize: 1, Transforms: []data.Transform{data.CenterCrop{Fields: []string{"picture"}}}})
	refused(err, "CenterCrop")
	_, err = data.NewLoader(dataset, data.Options{BatchSize: 1, Transforms: []data.Transform{
		data.BatchStep{Adds: []string{"label"}, Apply: func(*data.Batch) error { return nil }}}})
	refused(err, "'label'")
	if cuda, _ := gotorch.CUDADeviceCount(); cuda == 0 {
		_, err = data.NewLoader(dataset, data.Options{BatchSize: 1, PinMemory: true})
		refused(err, "CUDA")
	}
}
