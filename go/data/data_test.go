package data_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/recordio"
)

// numbers writes n records, each its number as a little-endian int32 and three bytes.
func numbers(t *testing.T, n int) (path string, fields []data.Field) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "numbers.recordio")
	w, err := recordio.Create(path, recordio.WriterOptions{ChunkBytes: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	for i := range n {
		record := binary.LittleEndian.AppendUint32(nil, uint32(i))
		w.Write(append(record, byte(i), byte(i+1), byte(i+2)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, []data.Field{{Name: "number", DType: gotorch.Int32, Out: gotorch.Int64},
		{Name: "bytes", DType: gotorch.Uint8, Shape: []int{3}, Out: gotorch.Float32, Scale: 2, Mean: 1, Std: 0.5}}
}

func epoch(t *testing.T, loader *data.Loader, number int) (all []int) {
	t.Helper()
	for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), number)) {
		if err != nil {
			t.Fatal(err)
		}
		labels := gotorch.ToSlice[int](batch.Field("number"))
		values := gotorch.ToSlice[float32](batch.Field("bytes"))
		for i, label := range labels {
			for j := range 3 {
				if want := (float32(byte(label+j))*2 - 1) / 0.5; values[3*i+j] != want {
					t.Fatalf("sample %d, byte %d is %v, want %v", label, j, values[3*i+j], want)
				}
			}
		}
		all = append(all, labels...)
	}
	return all
}

func TestEpochs(t *testing.T) {
	path, fields := numbers(t, 50)
	open := func(o data.Options) *data.Loader {
		loader, err := data.Open([]string{path}, fields, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { loader.Close() })
		return loader
	}
	plain := open(data.Options{BatchSize: 8, Shuffle: gotorch.Some(false)})
	if got := epoch(t, plain, 0); len(got) != 50 || !slices.IsSorted(got) {
		t.Fatal(got)
	}
	if plain.Len() != 7 || plain.Samples() != 50 {
		t.Fatal(plain.Len(), plain.Samples())
	}
	loader := open(data.Options{BatchSize: 10, Seed: 3, Threads: gotorch.Some(2)})
	first, second := epoch(t, loader, 0), epoch(t, loader, 1)
	if slices.IsSorted(first) || slices.Equal(first, second) || !slices.Equal(first, epoch(t, loader, 0)) {
		t.Fatal(first, second)
	}
	all := slices.Sorted(slices.Values(first))
	if len(all) != 50 || all[0] != 0 || all[49] != 49 {
		t.Fatal(all)
	}

	// Two ranks see the global batches of one, whichever way their size is said.
	for _, o := range []data.Options{{BatchSize: 10}, {BatchSize: 5, PerRank: true}} {
		var parts [2][]int
		o.Seed, o.WorldSize = 3, 2
		for o.Rank = range parts {
			parts[o.Rank] = epoch(t, open(o), 0)
		}
		for step := range 5 {
			global := append(slices.Clone(parts[0][5*step:5*step+5]), parts[1][5*step:5*step+5]...)
			if !slices.Equal(global, first[10*step:10*step+10]) {
				t.Fatal(step, global, first)
			}
		}
	}

	var rest []int
	for batch, err := range loader.EpochFrom(t.Context(), 0, 3) {
		if err != nil {
			t.Fatal(err)
		}
		rest = append(rest, gotorch.ToSlice[int](batch.Tensors[0])...)
		batch.Close()
	}
	if !slices.Equal(rest, first[30:]) {
		t.Fatal(rest, first)
	}
}

func TestTails(t *testing.T) {
	path, fields := numbers(t, 10)
	for tail, want := range map[data.Tail][]int{
		data.ShortTail: {8, 9}, data.DropTail: {4, 5, 6, 7}, data.PadTail: {8, 9, 0, 0}, data.RepeatTail: {8, 9, 0, 1},
		data.EvenTail: {8, 9},
	} {
		loader, err := data.Open([]string{path}, fields,
			data.Options{BatchSize: 4, Shuffle: gotorch.Some(false), Tail: tail, PrefetchBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range gotorch.Scoped(loader.EpochFrom(t.Context(), 0, loader.Len()-1)) {
			if err != nil {
				t.Fatal(err)
			}
			if got := gotorch.ToSlice[int](batch.Field("number")); !slices.Equal(got, want) {
				t.Errorf("tail %d ends with %v, not %v", tail, got, want)
			}
			counts := len(want)
			if tail == data.PadTail {
				counts = 2
			}
			if batch.Count != counts || batch.GlobalCount != counts || !slices.Equal(batch.Samples, want[:counts]) ||
				len(batch.Randomness) != counts {
				t.Error(tail, batch)
			}
			mask := gotorch.ToSlice[bool](batch.Mask())
			for i, sample := range mask {
				if sample != (i < counts) || len(mask) != len(want) {
					t.Error(tail, mask)
				}
			}
		}
		loader.Close()
	}
}

// A step sees which rows are samples.
func TestStepsOfPaddedBatches(t *testing.T) {
	path, fields := numbers(t, 5)
	for _, c := range []struct {
		rank, ranks int
		want        [][]bool
	}{
		{0, 1, [][]bool{{true, true, true, true}, {true, false, false, false}}},
		{0, 2, [][]bool{{true, true}, {true, false}}},
		{1, 2, [][]bool{{true, true}, {false, false}}},
	} {
		var seen [][]bool // by the step
		loader, err := data.Open([]string{path}, fields, data.Options{BatchSize: 4, Rank: c.rank, WorldSize: c.ranks,
			Shuffle: gotorch.Some(false), Tail: data.PadTail, Transforms: []data.Transform{
				data.BatchStep{Apply: func(batch *data.Batch) error {
					seen = append(seen, gotorch.ToSlice[bool](batch.Mask()))
					return nil
				}}}})
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
			if err != nil {
				t.Fatal(err)
			}
			if mask := gotorch.ToSlice[bool](batch.Mask()); !slices.Equal(mask, c.want[batch.Index]) {
				t.Errorf("rank %d of %d: batch %d has %v", c.rank, c.ranks, batch.Index, mask)
			}
		}
		loader.Close()
		if !slices.EqualFunc(seen, c.want, slices.Equal[[]bool]) {
			t.Errorf("rank %d of %d: steps saw %v, not %v", c.rank, c.ranks, seen, c.want)
		}
	}
}

func TestBlockShuffle(t *testing.T) {
	path, fields := numbers(t, 40)
	loader, err := data.Open([]string{path}, fields, data.Options{BatchSize: 20, ShuffleBlock: 10, ShuffleWindow: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer loader.Close()
	got := epoch(t, loader, 0)
	blocks := map[int]bool{}
	for _, sample := range got[:20] {
		blocks[sample/10] = true
	}
	if all := slices.Sorted(slices.Values(got)); len(blocks) != 2 || slices.IsSorted(got) || all[39] != 39 || all[0] != 0 {
		t.Fatal(got)
	}
}

// Three ranks stop in the middle of the second epoch, two go on: every sample once an epoch.
func TestResume(t *testing.T) {
	path, fields := numbers(t, 50)
	var times [3][50]int
	open := func(rank, ranks int) *data.Loader {
		loader, err := data.Open([]string{path}, fields,
			data.Options{BatchSize: 8, Rank: rank, WorldSize: ranks, Seed: 1, Threads: gotorch.Some(2), Prefetch: gotorch.Some(4)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { loader.Close() })
		return loader
	}
	var states [][]byte
	for rank := range 3 {
		loader := open(rank, 3)
	training:
		for epoch := range 2 {
			for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), epoch)) {
				if err != nil {
					t.Fatal(err)
				}
				if epoch == 1 && batch.Index == 3 {
					break training // without having trained on it
				}
				for _, sample := range batch.Samples {
					times[epoch][sample]++
				}
				if err := loader.Commit(); err != nil {
					t.Fatal(err)
				}
			}
		}
		state, err := loader.State()
		if err != nil || len(state) >= 256 {
			t.Fatal(len(state), err)
		}
		states = append(states, state)
	}
	if !bytes.Equal(states[0], states[1]) || !bytes.Equal(states[0], states[2]) {
		t.Fatal("ranks have different states")
	}
	for rank := range 2 {
		loader := open(rank, 2)
		if err := loader.Restore(states[0]); err != nil {
			t.Fatal(err)
		}
		if loader.CurrentEpoch() != 1 {
			t.Fatal(loader.CurrentEpoch())
		}
		for epoch := loader.CurrentEpoch(); epoch < 3; epoch++ {
			for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), epoch)) {
				if err != nil {
					t.Fatal(err)
				}
				for _, sample := range batch.Samples {
					times[epoch][sample]++
				}
			}
		}
		if loader.CurrentEpoch() != 3 {
			t.Fatal(loader.CurrentEpoch())
		}
		if err := loader.Restore(states[0]); !errors.Is(err, gotorch.ErrInvalidArgument) {
			t.Fatal(err)
		}
	}
	for epoch := range times {
		for sample, n := range times[epoch] {
			if n != 1 {
				t.Errorf("epoch %d has sample %d %d times", epoch, sample, n)
			}
		}
	}
	other, fields := numbers(t, 51)
	loader, err := data.Open([]string{other}, fields, data.Options{BatchSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	if err := loader.Restore(states[0]); !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "fingerprint") {
		t.Fatal(err)
	}
	if err := loader.Restore(nil); !errors.Is(err, gotorch.ErrDataLoss) {
		t.Fatal(err)
	}
	loader.Close()
	_, err = loader.State()
	for _, err := range []error{err, loader.Commit(), loader.Restore(states[0])} {
		if !errors.Is(err, gotorch.ErrClosed) {
			t.Fatal(err)
		}
	}
}

func TestEndsEarly(t *testing.T) {
	path, fields := numbers(t, 50)
	loader, err := data.Open([]string{path}, fields, data.Options{BatchSize: 5})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	batches := 0
	for _, err = range loader.Epoch(ctx, 0) {
		if batches++; batches == 2 {
			cancel()
		}
	}
	if batches != 3 || !errors.Is(err, context.Canceled) {
		t.Fatal(batches, err)
	}
	loader.Close()
	loader.Close()
	for _, err = range loader.Epoch(t.Context(), 0) {
	}
	if !errors.Is(err, gotorch.ErrClosed) {
		t.Fatal(err)
	}
}

func TestMisuse(t *testing.T) {
	path, fields := numbers(t, 5)
	for name, open := range map[string]func() (*data.Loader, error){
		"no such file": func() (*data.Loader, error) {
			return data.Open([]string{path + "x"}, fields, data.Options{BatchSize: 1})
		},
		"batch 0": func() (*data.Loader, error) { return data.Open([]string{path}, fields, data.Options{}) },
		"rank 2 of two": func() (*data.Loader, error) {
			return data.Open([]string{path}, fields, data.Options{BatchSize: 1, Rank: 2, WorldSize: 2})
		},
	} {
		if _, err := open(); err == nil {
			t.Error(name, "was taken")
		}
	}
}

// idxFiles writes n images whose pixels are their number, and labels.
func idxFiles(t *testing.T, folder, set string, n int) {
	t.Helper()
	images := binary.BigEndian.AppendUint32(nil, 2051)
	labels := binary.BigEndian.AppendUint32(nil, 2049)
	for _, size := range []int{n, 28, 28} {
		images = binary.BigEndian.AppendUint32(images, uint32(size))
	}
	labels = binary.BigEndian.AppendUint32(labels, uint32(n))
	for i := range n {
		images = append(images, bytes.Repeat([]byte{byte(i)}, 784)...)
		labels = append(labels, byte(i%10))
	}
	if err := errors.Join(os.WriteFile(filepath.Join(folder, set+"-images-idx3-ubyte"), images, 0o644),
		os.WriteFile(filepath.Join(folder, set+"-labels-idx1-ubyte"), labels, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// fakeRanks is one of two ranks, which counts its barriers and waits in none.
type fakeRanks struct{ rank, barriers int }

func (r *fakeRanks) Rank() int                     { return r.rank }
func (r *fakeRanks) Size() int                     { return 2 }
func (r *fakeRanks) Barrier(context.Context) error { r.barriers++; return nil }

// What a rank sees may have changed since another one looked: all of them call Barrier in any case.
func TestMNISTHasAllRanksInOneBarrier(t *testing.T) {
	folder := t.TempDir()
	open := func(rank int, folder string) error {
		t.Helper()
		ranks := &fakeRanks{rank: rank}
		train, test, err := data.MNIST(t.Context(), folder, ranks, data.MNISTOptions{BatchSize: 32})
		if err == nil {
			if train.Samples() != 128 || train.Len() != 2 || test.Samples() != 20 {
				t.Error(rank, train.Samples(), train.Len(), test.Samples())
			}
			train.Close()
			test.Close()
		}
		if ranks.barriers != 1 {
			t.Errorf("rank %d was in %d barriers: %v", rank, ranks.barriers, err)
		}
		return err
	}
	for rank := range 2 {
		if err := open(rank, folder); !errors.Is(err, gotorch.ErrNotFound) || !strings.Contains(err.Error(), folder) ||
			!strings.Contains(err.Error(), "t10k-images-idx3-ubyte") {
			t.Error(rank, err)
		}
	}

	idxFiles(t, folder, "train", 128)
	idxFiles(t, folder, "t10k", 20)
	for range 2 { // the second time from what the first has converted
		for rank := range 2 {
			if err := open(rank, folder); err != nil {
				t.Error(rank, err)
			}
		}
	}
	ofAnotherHost := t.TempDir() // rank 0 has converted what is on its own
	idxFiles(t, ofAnotherHost, "train", 128)
	idxFiles(t, ofAnotherHost, "t10k", 20)
	if err := open(1, ofAnotherHost); err != nil {
		t.Error(err)
	}
}

func TestMNIST(t *testing.T) {
	folder, cache := t.TempDir(), t.TempDir()
	if _, _, err := data.MNIST(t.Context(), folder, nil, data.MNISTOptions{}); !errors.Is(err, gotorch.ErrNotFound) {
		t.Fatal(err)
	}
	idxFiles(t, folder, "train", 128)
	idxFiles(t, folder, "t10k", 20)
	for range 2 { // the second time from what the first has converted
		train, test, err := data.MNIST(t.Context(), folder, nil, data.MNISTOptions{BatchSize: 32, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		defer train.Close()
		defer test.Close()
		if train.Samples() != 128 || train.Len() != 4 || test.Samples() != 20 || test.Len() != 1 {
			t.Fatal(train.Samples(), train.Len(), test.Samples(), test.Len())
		}
		for batch, err := range gotorch.Scoped(test.Epoch(t.Context(), 0)) {
			if err != nil {
				t.Fatal(err)
			}
			if shape := batch.Field("image").Shape(); !slices.Equal(shape, []int{20, 1, 28, 28}) {
				t.Fatal(shape)
			}
			for i, label := range gotorch.ToSlice[int](batch.Field("label")) {
				pixel := batch.Field("image").Select(0, i).Select(0, 0).Select(0, 0).Select(0, 0).Item()
				if want := (float64(i)/255 - 0.1307) / 0.3081; label != i%10 || pixel-want > 1e-5 || want-pixel > 1e-5 {
					t.Fatal(i, label, pixel, want)
				}
			}
			err := gotorch.Try(func() { batch.Field("nothing") })
			if !errors.Is(err, gotorch.ErrNotFound) {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "t10k-images-idx3-ubyte"), []byte("no pictures"), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	_, _, err := data.MNIST(t.Context(), folder, nil, data.MNISTOptions{Cache: empty})
	if !errors.Is(err, gotorch.ErrDataLoss) {
		t.Fatal(err)
	}
	_, err = data.ConvertMNIST(filepath.Join(folder, "t10k-images-idx3-ubyte"), filepath.Join(folder, "t10k-labels-idx1-ubyte"),
		filepath.Join(empty, "out"), 0, -1)
	if !errors.Is(err, gotorch.ErrDataLoss) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(empty, "out")); err == nil {
		t.Fatal(fmt.Sprint("a file was left after ", err))
	}
}

// A record is the label's byte, then the pixels, and a range is those samples alone.
func TestConvertMNISTWritesARange(t *testing.T) {
	folder := t.TempDir()
	images, labels := filepath.Join(folder, "images"), filepath.Join(folder, "labels")
	pixels := []byte{0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 28, 0, 0, 0, 28}
	for i := range 3 * 28 * 28 {
		pixels = append(pixels, byte(i/(28*28)+10))
	}
	if err := errors.Join(os.WriteFile(images, pixels, 0o644),
		os.WriteFile(labels, []byte{0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9}, 0o644)); err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(folder, "out")
	if _, err := data.ConvertMNIST(images, labels, output, 2, 2); !errors.Is(err, gotorch.ErrOutOfRange) {
		t.Fatal(err)
	}
	written, err := data.ConvertMNIST(images, labels, output, 1, -1)
	if err != nil || written != 2 {
		t.Fatal(written, err)
	}
	records, err := recordio.Open(output)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	record, err := records.Record(1)
	if err != nil || records.Len() != 2 || len(record) != 1+28*28 || record[0] != 9 || record[1] != 12 || record[784] != 12 {
		t.Fatal(records.Len(), record, err)
	}
}
