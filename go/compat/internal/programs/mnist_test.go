// Package programs has programs as they are written for wangkuiyi/gotorch, small, as tests of package compat.
package programs

import (
	"archive/tar"
	"bytes"
	"encoding/gob"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	torch "tandem.example/gotorch/compat"
	F "tandem.example/gotorch/compat/nn/functional"
	"tandem.example/gotorch/compat/nn/initializer"
	"tandem.example/gotorch/compat/tool/tgz"
	"tandem.example/gotorch/compat/vision/imageloader"
	"tandem.example/gotorch/compat/vision/models"
	"tandem.example/gotorch/compat/vision/transforms"
)

// bars draws a bright bar over noise; its place is the digit.
func bars(t *testing.T, path string, count int) {
	t.Helper()
	w, err := tgz.CreateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewSource(1))
	for i := range count {
		digit := i % 10
		m := image.NewGray(image.Rect(0, 0, 28, 28))
		for at := range m.Pix {
			m.Pix[at] = byte(random.Intn(60))
			if at%28/2 == digit {
				m.Pix[at] = 220
			}
		}
		var encoded bytes.Buffer
		if err := png.Encode(&encoded, m); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("digits/%d/%d.png", digit, i)
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(encoded.Len())}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(encoded.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

type digits struct {
	t      *testing.T
	file   string
	vocab  map[string]int
	device torch.Device
}

func (d digits) loader(seed int64) *imageloader.ImageLoader {
	trans := transforms.Compose(transforms.ToTensor(), transforms.Normalize([]float32{0.1307}, []float32{0.3081}))
	loader, err := imageloader.New(d.file, d.vocab, trans, 20, 100, seed, torch.IsCUDAAvailable(), imageloader.GRAY)
	if err != nil {
		d.t.Fatal(err)
	}
	return loader
}

func (d digits) train(model *models.MLPModule, opt torch.Optimizer, epochs int) {
	defer torch.FinishGC()
	for epoch := range epochs {
		loader := d.loader(int64(epoch))
		for loader.Scan() {
			torch.GC()
			data, label := loader.Minibatch()
			opt.ZeroGrad()
			pred := model.Forward(data.To(d.device, data.Dtype()))
			loss := F.NllLoss(pred, label.To(d.device, label.Dtype()), torch.Tensor{}, -100, "mean")
			loss.Backward()
			opt.Step()
		}
		if err := loader.Err(); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d digits) accuracy(model *models.MLPModule) float32 {
	model.Train(false)
	correct, samples := int64(0), int64(0)
	for loader := d.loader(9); loader.Scan(); {
		data, label := loader.Minibatch()
		pred := model.Forward(data.CopyTo(d.device)).Argmax(1)
		correct += pred.Eq(label.View(pred.Shape()...)).Sum(map[string]interface{}{"dim": 0, "keepDim": false}).Item().(int64)
		samples += label.Shape()[0]
	}
	model.Train(true)
	return float32(correct) / float32(samples)
}

func TestMNIST(t *testing.T) {
	folder := t.TempDir()
	d := digits{t: t, file: filepath.Join(folder, "digits.tar.gz"), device: torch.NewDevice("cpu")}
	bars(t, d.file, 200)
	var err error
	if d.vocab, err = imageloader.BuildLabelVocabularyFromTgz(d.file); err != nil {
		t.Fatal(err)
	}
	torch.SetNumThreads(1)
	initializer.ManualSeed(1)
	net := models.MLP()
	net.To(d.device)
	opt := torch.SGD(0.01, 0.5, 0, 0, false)
	opt.AddParameters(net.Parameters())
	if got := d.accuracy(net); got > 0.5 {
		t.Error("accuracy before training:", got)
	}
	d.train(net, opt, 2)
	if got := d.accuracy(net); got < 0.95 {
		t.Error("accuracy:", got)
	}

	// Saved, loaded, trained on and used to predict.
	file := filepath.Join(folder, "model.gob")
	save(t, file, net.StateDict())
	loaded := models.MLP()
	if err := loaded.SetStateDict(load(t, file)); err != nil {
		t.Fatal(err)
	}
	for _, model := range []*models.MLPModule{net, loaded} {
		opt := torch.Adam(0.001, 0.9, 0.999, 0)
		opt.AddParameters(model.Parameters())
		d.train(model, opt, 1)
	}
	for name, weight := range net.StateDict() {
		if !torch.Equal(weight, loaded.StateDict()[name]) {
			t.Error(name, "is another after training went on")
		}
	}
	one := image.NewGray(image.Rect(0, 0, 28, 28))
	for y := range 28 {
		one.SetGray(6, y, color.Gray{220})
		one.SetGray(7, y, color.Gray{220})
	}
	x := transforms.Normalize([]float32{0.1307}, []float32{0.3081}).Run(transforms.ToTensor().Run(one))
	if got := loaded.Forward(x).Argmax().Item(); got != int64(d.vocab["3"]) {
		t.Error("a bar at 3 is a", got)
	}
}

func save(t *testing.T, path string, state map[string]torch.Tensor) {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		defer f.Close()
		err = gob.NewEncoder(f).Encode(state)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, path string) map[string]torch.Tensor {
	t.Helper()
	state := map[string]torch.Tensor{}
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		err = gob.NewDecoder(f).Decode(&state)
	}
	if err != nil {
		t.Fatal(err)
	}
	return state
}
