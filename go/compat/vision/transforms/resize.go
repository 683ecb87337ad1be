package transforms

import (
	"image"
	"math/rand"
)

// ResizeTransformer resizes.
type ResizeTransformer struct {
	width, height int
}

// Resize makes a ResizeTransformer, to a square without a width.
func Resize(height int, width ...int) *ResizeTransformer {
	h, w := size(height, width)
	return &ResizeTransformer{w, h}
}

// Run resizes, with linear interpolation.
func (t *ResizeTransformer) Run(input image.Image) image.Image {
	return pixelsOf(input).resize(t.width, t.height)
}

// RandomHorizontalFlipTransformer sometimes swaps left and right.
type RandomHorizontalFlipTransformer struct {
	p float32
}

// RandomHorizontalFlip makes a RandomHorizontalFlipTransformer that flips with probability p.
func RandomHorizontalFlip(p float32) *RandomHorizontalFlipTransformer {
	return &RandomHorizontalFlipTransformer{p}
}

// Run flips or gives the image itself.
func (t *RandomHorizontalFlipTransformer) Run(input image.Image) image.Image {
	if rand.Float32() >= t.p {
		return input
	}
	from := pixelsOf(input)
	to, flipped := from.like(from.width, from.height)
	for y := range from.height {
		source, row := from.row(y), to.row(y)
		for x := range from.width {
			copy(row[x*from.size:][:from.size], source[(from.width-1-x)*from.size:])
		}
	}
	return flipped
}

// RandomVerticalFlipTransformer sometimes swaps top and bottom.
type RandomVerticalFlipTransformer struct {
	p float32
}

// RandomVerticalFlip makes a RandomVerticalFlipTransformer that flips with probability p.
func RandomVerticalFlip(p float32) *RandomVerticalFlipTransformer {
	return &RandomVerticalFlipTransformer{p}
}

// Run flips or gives the image itself.
func (t *RandomVerticalFlipTransformer) Run(input image.Image) image.Image {
	if rand.Float32() >= t.p {
		return input
	}
	from := pixelsOf(input)
	to, flipped := from.like(from.width, from.height)
	for y := range from.height {
		copy(to.row(y), from.row(from.height-1-y))
	}
	return flipped
}
