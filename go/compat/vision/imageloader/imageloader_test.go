package imageloader_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch/compat/tool/tgz"
	"tandem.example/gotorch/compat/vision"
	"tandem.example/gotorch/compat/vision/imageloader"
	"tandem.example/gotorch/compat/vision/transforms"
)

var plain = transforms.Compose(transforms.ToTensor())

// archive writes a file for each name, by default an image.
func archive(t *testing.T, contents map[string]string, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "images.tar.gz")
	w, err := tgz.CreateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		var image bytes.Buffer
		if text, ok := contents[name]; ok {
			image.WriteString(text)
		} else if err := png.Encode(&image, vision.SynthesizeImage(2, 2, color.Gray{byte(i)})); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(image.Len())}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(image.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// The order is the original's for the same seed.
func TestLoader(t *testing.T) {
	path, err := tgz.SynthesizeTarball(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := imageloader.BuildLabelVocabularyFromTgz(path)
	if err != nil || fmt.Sprint(vocab) != "map[0:0 1:1]" {
		t.Fatal(vocab, err)
	}
	trans := transforms.Compose(transforms.Resize(3, 2), transforms.ToTensor(), transforms.Normalize([]float32{1}, []float32{2}))
	for colors, channels := range map[string]int{imageloader.RGB: 3, imageloader.GRAY: 1} {
		loader, err := imageloader.New(path, vocab, trans, 3, 3, 1, false, colors)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for loader.Scan() {
			data, label := loader.Minibatch()
			got += fmt.Sprintln(data.Shape(), label)
		}
		want := fmt.Sprintf("[3 %d 3 2]  1\n 0\n 1\n[ CPULongType{3} ]\n[2 %d 3 2]  0\n 0\n[ CPULongType{2} ]\n", channels, channels)
		if got != want || loader.Err() != nil || loader.Scan() {
			t.Errorf("%s, %v; want %s", got, loader.Err(), want)
		}
	}
}

func TestOrder(t *testing.T) {
	var names []string
	vocab := map[string]int{}
	for i := range 20 {
		names = append(names, fmt.Sprintf("%d/x.png", i))
		vocab[fmt.Sprint(i)] = i
	}
	path := archive(t, nil, names...)
	for _, buffer := range []int{0, 1, 5, 100} {
		var orders []string
		for _, seed := range []int64{1, 1, 2} {
			loader, err := imageloader.New(path, vocab, plain, 1, buffer, seed, false, "rgb")
			if err != nil {
				t.Fatal(err)
			}
			order, seen := "", map[any]bool{}
			for loader.Scan() {
				_, label := loader.Minibatch()
				seen[label.Item()] = true
				order += fmt.Sprint(label.Item(), " ")
			}
			if len(seen) != 20 || loader.Err() != nil {
				t.Error(order, loader.Err())
			}
			orders = append(orders, order)
		}
		if orders[0] != orders[1] || (orders[0] == orders[2]) != (buffer < 2) || strings.HasPrefix(orders[0], "0 1 2 3 4 5 6 7 ") != (buffer < 2) {
			t.Error(buffer, orders)
		}
	}
}

func TestErrors(t *testing.T) {
	vocab := map[string]int{"0": 0}
	for want, path := range map[string]string{
		"class":      archive(t, nil, "0/a.png", "1/b.png"),
		"0/text":     archive(t, map[string]string{"0/text": "no image"}, "0/text"),
		"pixels":     archive(t, map[string]string{"0/huge.gif": "GIF89a\xff\xff\xff\xff\x00\x00\x00"}, "0/huge.gif"),
		"unexpected": truncated(t, archive(t, nil, "0/a.png", "0/b.png", "0/c.png")),
		"image 1":    archive(t, map[string]string{"0/small.png": smallImage(t)}, "0/a.png", "0/small.png"),
	} {
		loader, err := imageloader.New(path, vocab, plain, 2, 0, 1, false, "gray")
		if err != nil {
			t.Fatal(err)
		}
		for loader.Scan() {
		}
		if err := loader.Err(); err == nil || !strings.Contains(err.Error(), want) || loader.Scan() {
			t.Errorf("%v, without %q", err, want)
		}
	}
	path := archive(t, nil, "0/a.png")
	for want, trans := range map[string]*transforms.ComposeTransformer{
		"ToTensor":   transforms.Compose(transforms.Resize(2)),
		"CenterCrop": transforms.Compose(transforms.CenterCrop(5), transforms.ToTensor()),
	} {
		loader, err := imageloader.New(path, vocab, trans, 1, 1, 1, false, "rgb")
		if err != nil || loader.Scan() || !strings.Contains(loader.Err().Error(), want) {
			t.Errorf("%v, %v, without %q", err, loader.Err(), want)
		}
	}
	if _, err := imageloader.New("missing", vocab, plain, 1, 1, 1, false, "rgb"); err == nil {
		t.Error("a file that is not there was opened")
	}
	if _, err := imageloader.New(path, vocab, plain, 1, 1, 1, false, "hsv"); err == nil || !strings.Contains(err.Error(), "hsv") {
		t.Error(err)
	}
	if _, err := imageloader.BuildLabelVocabularyFromTgz("missing"); err == nil {
		t.Error("a file that is not there was listed")
	}
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, "mbSize") {
			t.Error(text)
		}
	}()
	_, _ = imageloader.New(path, vocab, plain, 0, 1, 1, false, "rgb")
}

func smallImage(t *testing.T) string {
	t.Helper()
	var image bytes.Buffer
	if err := png.Encode(&image, vision.SynthesizeImage(1, 2, color.Gray{1})); err != nil {
		t.Fatal(err)
	}
	return image.String()
}

func truncated(t *testing.T, path string) string {
	t.Helper()
	all, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, all[:len(all)*2/3], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Who stops in the middle leaves no goroutine and no open file behind.
func TestLoaderThatIsDropped(t *testing.T) {
	names := make([]string, 50)
	for i := range names {
		names[i] = fmt.Sprintf("0/%d.png", i)
	}
	path := archive(t, nil, names...)
	before := runtime.NumGoroutine()
	for range 5 {
		loader, err := imageloader.New(path, map[string]int{"0": 0}, plain, 1, 1, 1, false, "rgb")
		if err != nil || !loader.Scan() {
			t.Fatal(err, loader.Err())
		}
	}
	for range 200 {
		runtime.GC()
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(runtime.NumGoroutine()-before, "goroutines are left")
}
