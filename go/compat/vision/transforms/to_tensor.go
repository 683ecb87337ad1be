package transforms

import (
	"fmt"
	"image"

	torch "tandem.example/gotorch/compat"
)

// ToTensorTransformer makes tensors of images and whole numbers.
type ToTensorTransformer struct{}

// ToTensor makes a ToTensorTransformer.
func ToTensor() *ToTensorTransformer { return &ToTensorTransformer{} }

// Run makes a tensor of floats from 0 to 1: of a color image [3, height, width], red first, of a gray one [height, width],
// of a list of images of one size [batch, channels, height, width]. Of an int it makes a tensor of one Int.
func (t ToTensorTransformer) Run(obj any) torch.Tensor {
	switch v := obj.(type) {
	case image.Image:
		p := pixelsOf(v)
		all := planes(nil, p)
		if p.channels() == 1 {
			return viewed(all, p.height, p.width)
		}
		return viewed(all, p.channels(), p.height, p.width)
	case []image.Image:
		return batch(v)
	case int:
		return torch.NewTensor([]int32{int32(v)})
	}
	panic(fmt.Sprintf("ToTensor: the input is a %T; give an image.Image, a []image.Image or an int", obj))
}

func viewed(values []float32, shape ...int) torch.Tensor {
	sizes := make([]int64, len(shape))
	for i, n := range shape {
		sizes[i] = int64(n)
	}
	t := torch.NewTensor(values)
	return t.View(sizes...)
}

// planes appends the channels, one after the other.
func planes(to []float32, p pixels) []float32 {
	for c := range p.channels() {
		for y := range p.height {
			row := p.row(y)
			for x := range p.width {
				to = append(to, float32(row[x*p.size+c])/255)
			}
		}
	}
	return to
}

func batch(images []image.Image) torch.Tensor {
	if len(images) == 0 {
		panic("ToTensor: the list of images is empty")
	}
	first := pixelsOf(images[0])
	values := make([]float32, 0, len(images)*first.channels()*first.height*first.width)
	for i, img := range images {
		p := pixelsOf(img)
		if p.width != first.width || p.height != first.height || p.size != first.size {
			panic(fmt.Sprintf("ToTensor: image %d has %d x %d pixels of %d channels, the first one %d x %d of %d; resize or crop "+
				"them", i, p.width, p.height, p.channels(), first.width, first.height, first.channels()))
		}
		values = planes(values, p)
	}
	return viewed(values, len(images), first.channels(), first.height, first.width)
}
