package tensorboard_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/tensorboard"
)

// records of an event file.
func records(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for len(file) > 0 {
		if len(file) < 16 {
			t.Fatalf("%s ends within a record", path)
		}
		length := binary.LittleEndian.Uint64(file)
		if length > uint64(len(file)-16) {
			t.Fatalf("%s ends within a record", path)
		}
		found = append(found, string(file[12:12+length]))
		file = file[16+length:]
	}
	return found
}

func open(t *testing.T, folder string, options ...tensorboard.Options) *tensorboard.SummaryWriter {
	t.Helper()
	writer, err := tensorboard.NewSummaryWriter(folder, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writer.Close() })
	return writer
}

func TestEveryKindOfEventIsInTheFile(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "runs", "first")
	writer := open(t, folder, tensorboard.Options{FilenameSuffix: ".x"})
	if filepath.Dir(writer.Path()) != folder || !strings.HasSuffix(writer.Path(), ".x") {
		t.Errorf("the file is %s", writer.Path())
	}
	when := tensorboard.Event{Time: time.Unix(1700000000, 500e6)}
	gotorch.Scope(func() {
		values := gotorch.Arange(12).Reshape(3, 2, 2).Div(gotorch.Full([]int{}, 12))
		for _, err := range []error{
			writer.AddScalar("loss", 0.5, 3, when),
			writer.AddHistogram("weights", values, 3),
			writer.AddImage("picture", values, tensorboard.CHW, 3),
			writer.AddText("note", "*ü*", 3),
			writer.Flush(),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	found := records(t, writer.Path())
	if len(found) != 5 {
		t.Fatalf("%d records", len(found))
	}
	for i, want := range []string{"brain.Event:2", "loss", "weights", "\x89PNG", "note/text_summary"} {
		if !strings.Contains(found[i], want) {
			t.Errorf("record %d is %q, without %q", i, found[i], want)
		}
	}
	// wall_time is the first field: tag 0x09, a double.
	if want := "\x09\x00\x00\x20\x40\xfc\x54\xd9\x41"; !strings.HasPrefix(found[1], want) {
		t.Errorf("the scalar's record begins %q, want %q", found[1][:9], want)
	}
}

func TestGoroutinesWriteWholeRecords(t *testing.T) {
	writer := open(t, t.TempDir())
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				if err := writer.AddScalar("loss", float64(i), g*100+i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := len(records(t, writer.Path())); n != 801 {
		t.Errorf("%d records, want 801", n)
	}
}

func TestMistakes(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(err error, code gotorch.Code, what string) {
		t.Helper()
		var failure *gotorch.Error
		if !errors.As(err, &failure) || failure.Code != code || !strings.Contains(failure.Error(), what) {
			t.Errorf("got %v, want code %v with %q", err, code, what)
		}
	}
	_, err := tensorboard.NewSummaryWriter(file)
	check(err, gotorch.ErrIO, file)

	writer := open(t, folder)
	gotorch.Scope(func() {
		flat := gotorch.Zeros([]int{4})
		check(writer.AddImage("flat", flat, tensorboard.CHW, 1), gotorch.ErrInvalidArgument, "3 dimensions")
		check(writer.AddHistogram("none", gotorch.Zeros([]int{0}), 1), gotorch.ErrInvalidArgument, `"none"`)
	})
	check(writer.AddText("a\x00b", "text", 1), gotorch.ErrInvalidArgument, "NUL")
	check(writer.AddText("a", "te\x00xt", 1), gotorch.ErrInvalidArgument, "NUL")
	check(writer.AddScalar("\xff", 1, 1), gotorch.ErrInvalidArgument, "UTF-8")
	for range 2 {
		if err := writer.Close(); err != nil {
			t.Error(err)
		}
	}
	check(writer.AddScalar("loss", 1, 1), gotorch.ErrClosed, writer.Path())
}
