package programs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/recordio"
)

// ResNet-18 learns under DDP, on two ranks, from PNG pictures in RecordIO files: bright on the left or on the right.

const resnetRanks = 2

type block struct {
	nn.Base
	Conv1, Conv2 *nn.Conv2d
	BN1, BN2     *nn.BatchNorm2d
	Downsample   *nn.Sequential
}

func newBlock(in, out, stride int) *block {
	b := &block{
		Conv1: nn.NewConv2d(in, out, 3, nn.ConvOptions{Stride: []int{stride}, Padding: []int{1}, Bias: nn.Some(false)}),
		BN1:   nn.NewBatchNorm2d(out),
		Conv2: nn.NewConv2d(out, out, 3, nn.ConvOptions{Padding: []int{1}, Bias: nn.Some(false)}),
		BN2:   nn.NewBatchNorm2d(out),
	}
	if stride != 1 || in != out {
		b.Downsample = nn.NewSequential(
			nn.NewConv2d(in, out, 1, nn.ConvOptions{Stride: []int{stride}, Bias: nn.Some(false)}), nn.NewBatchNorm2d(out))
	}
	return b
}

func (b *block) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	y := F.ReLU(b.BN1.Forward(b.Conv1.Forward(x)))
	y = b.BN2.Forward(b.Conv2.Forward(y))
	if b.Downsample != nil {
		x = b.Downsample.Forward(x)
	}
	return F.ReLU(y.Add(x))
}

// newResNet18 of that many channels at its beginning: 64 is the paper's. Source: He et al., 2015.
func newResNet18(channels, classes int) *nn.Sequential {
	net := nn.NewSequential(
		nn.NewConv2d(3, channels, 7, nn.ConvOptions{Stride: []int{2}, Padding: []int{3}, Bias: nn.Some(false)}),
		nn.NewBatchNorm2d(channels), nn.NewReLU(),
		nn.NewMaxPool2d(3, nn.MaxPoolOptions{Stride: []int{2}, Padding: []int{1}}))
	in := channels
	for stage := range 4 {
		out, stride := channels<<stage, min(stage, 1)+1
		net.Append(newBlock(in, out, stride), newBlock(out, out, 1))
		in = out
	}
	net.Append(nn.NewAdaptiveAvgPool2d(1), nn.NewFlatten(), nn.NewLinear(in, classes))
	return net
}

func writePictures(path string, n int) error {
	schema := `{"fields": [{"name": "label", "dtype": "int64"}, {"name": "picture", "kind": "image"}]}`
	w, err := recordio.Create(path, recordio.WriterOptions{Version: 2, Schema: schema})
	if err != nil {
		return err
	}
	defer w.Discard()
	for i := range n {
		label := i % 2
		picture := image.NewRGBA(image.Rect(0, 0, 40, 32+i%3))
		for y := range picture.Rect.Dy() {
			for x := range 40 {
				bright := uint8((i*7 + x*3 + y*5) % 64)
				if (x >= 20) == (label == 1) {
					bright += 160
				}
				picture.Set(x, y, color.RGBA{bright, bright / 2, 255 - bright, 255})
			}
		}
		var file bytes.Buffer
		if err := png.Encode(&file, picture); err != nil {
			return err
		}
		if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(label)), file.Bytes()...)); err != nil {
			return err
		}
	}
	return w.Close()
}

func resnetRank(ctx context.Context) (err error) {
	rank, err := strconv.Atoi(os.Getenv("RANK"))
	if err != nil {
		return err
	}
	group, err := dist.Init(ctx, dist.Options{InitMethod: "file://" + os.Getenv("MEET"), Rank: gotorch.Some(rank),
		WorldSize: resnetRanks, Timeout: time.Minute})
	if err != nil {
		return err
	}
	defer group.Close()
	if err := gotorch.ManualSeed(uint64(group.Rank())); err != nil {
		return err
	}
	pictures, err := data.FromSchema([]string{os.Getenv("PICTURES")}, nil, data.SchemaOptions{Fits: map[string]data.Fit{
		"picture": {Kind: data.FitResize, Height: 32, Width: 32}}})
	if err != nil {
		return err
	}
	defer pictures.Close()
	loader, err := data.NewLoader(pictures, data.Options{BatchSize: 16, Rank: group.Rank(), WorldSize: group.Size(),
		Transforms: []data.Transform{data.Normalize{Fields: []string{"picture"}, Mean: []float64{0.5}, Std: []float64{0.25},
			Scale: gotorch.Some(1. / 255)}}})
	if err != nil {
		return err
	}
	defer loader.Close()

	net := newResNet18(8, 2)
	ddp, err := dist.NewDDP(group, net)
	if err != nil {
		return err
	}
	defer ddp.Close()
	sgd := optim.SGD(nn.Parameters(net), 0.05, optim.SGDOptions{Momentum: 0.9})
	var first, last float64
	for epoch := range 5 {
		for batch, err := range gotorch.Scoped(loader.Epoch(ctx, epoch)) {
			if err != nil {
				return err
			}
			loss := F.CrossEntropy(ddp.Forward(batch.Field("picture")), batch.Field("label"))
			if err := sgd.Minimize(loss); err != nil {
				return err
			}
			if last = loss.Item(); first == 0 {
				first = last
			}
		}
	}
	equal, err := group.AllEqual(ctx, []byte(nn.Fingerprint(net)))
	if err != nil {
		return err
	}
	if !equal {
		return errors.New("the ranks' parameters and buffers differ")
	}
	if last > first/4 {
		return fmt.Errorf("the loss went from %g to %g", first, last)
	}
	return nil
}

func TestResNet18UnderDDP(t *testing.T) {
	if count := nn.ParameterCount(newResNet18(64, 1000)); count != 11689512 {
		t.Fatalf("ResNet-18 has 11,689,512 parameters, not %d", count)
	}
	path := filepath.Join(t.TempDir(), "pictures.recordio")
	if err := writePictures(path, 160); err != nil {
		t.Fatal(err)
	}
	meet := filepath.Join(t.TempDir(), "meet")
	var outputs [resnetRanks]strings.Builder
	wait := make([]func() error, resnetRanks)
	for rank := range resnetRanks {
		command := testmain.Command(t, "resnet", "RANK="+strconv.Itoa(rank), "OMP_NUM_THREADS=1", "MEET="+meet, "PICTURES="+path)
		command.Stdout, command.Stderr = &outputs[rank], &outputs[rank]
		command.WaitDelay = 5 * time.Second
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		wait[rank] = command.Wait
	}
	for rank := range resnetRanks {
		if err := wait[rank](); err != nil {
			t.Errorf("rank %d: %v: %s", rank, err, outputs[rank].String())
		}
	}
}
