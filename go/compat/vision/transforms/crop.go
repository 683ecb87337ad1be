package transforms

import (
	"fmt"
	"image"
	"log"
	"math"
	"math/rand"
)

// size is a height and a width; without one the width is as large.
func size(height int, width []int) (h, w int) {
	if len(width) > 0 {
		return height, width[0]
	}
	return height, height
}

// CenterCropTransformer cuts out the middle.
type CenterCropTransformer struct {
	width, height int
}

// CenterCrop makes a CenterCropTransformer, of a square without a width.
func CenterCrop(height int, width ...int) *CenterCropTransformer {
	h, w := size(height, width)
	return &CenterCropTransformer{w, h}
}

// Run cuts. It panics on a smaller image.
func (t *CenterCropTransformer) Run(input image.Image) image.Image {
	p := pixelsOf(input)
	if t.width > p.width || t.height > p.height {
		panic(fmt.Sprintf("CenterCrop: %d x %d pixels are wanted of an image of %d x %d", t.width, t.height, p.width, p.height))
	}
	return p.crop((p.width-t.width)/2, (p.height-t.height)/2, t.width, t.height)
}

// RandomCropTransformer cuts out a part somewhere.
type RandomCropTransformer struct {
	width, height int
}

// RandomCrop makes a RandomCropTransformer, of a square without a width.
func RandomCrop(height int, width ...int) *RandomCropTransformer {
	h, w := size(height, width)
	return &RandomCropTransformer{w, h}
}

// Run cuts. It panics on a smaller image.
func (t *RandomCropTransformer) Run(input image.Image) image.Image {
	p := pixelsOf(input)
	if t.width > p.width || t.height > p.height {
		log.Panicf("RandomCrop: %d x %d pixels are wanted of an image of %d x %d", t.width, t.height, p.width, p.height)
	}
	return p.crop(rand.Intn(p.width-t.width+1), rand.Intn(p.height-t.height+1), t.width, t.height)
}

// Interpolation between pixels.
type Interpolation int

// InterpolationLinear is the only one.
const InterpolationLinear Interpolation = 1

// RandomResizedCropTransformer cuts out a part of random area and aspect ratio somewhere, and resizes it.
type RandomResizedCropTransformer struct {
	width, height int
	scale, ratio  [2]float64
}

// RandomResizedCrop makes a RandomResizedCropTransformer that cuts 8 to 100 percent of the area, three quarters to four
// thirds as wide as high. Source: torchvision.transforms.RandomResizedCrop.
func RandomResizedCrop(height int, width ...int) *RandomResizedCropTransformer {
	h, w := size(height, width)
	return RandomResizedCropD(h, w, 0.08, 1, 3./4, 4./3, InterpolationLinear)
}

// RandomResizedCropD is RandomResizedCrop for other parts of the area, from scale0 to scale1, and other ratios.
func RandomResizedCropD(height, width int, scale0, scale1, ratio0, ratio1 float64, interpolation Interpolation) *RandomResizedCropTransformer {
	if interpolation != InterpolationLinear {
		panic(fmt.Sprintf("RandomResizedCropD: the interpolation is %d; there is InterpolationLinear alone", interpolation))
	}
	return &RandomResizedCropTransformer{width, height, [2]float64{scale0, scale1}, [2]float64{ratio0, ratio1}}
}

// Run cuts and resizes.
func (t *RandomResizedCropTransformer) Run(input image.Image) image.Image {
	p := pixelsOf(input)
	part := pixelsOf(p.crop(t.part(p.width, p.height)))
	return part.resize(t.width, t.height)
}

func uniform(from, to float64) float64 { return from + rand.Float64()*(to-from) }

// part is drawn until it fits. After ten tries it is the largest one in the middle whose ratio is allowed.
func (t *RandomResizedCropTransformer) part(width, height int) (x, y, w, h int) {
	for range 10 {
		area := float64(width*height) * uniform(t.scale[0], t.scale[1])
		ratio := math.Exp(uniform(math.Log(t.ratio[0]), math.Log(t.ratio[1])))
		w, h = int(math.Round(math.Sqrt(area*ratio))), int(math.Round(math.Sqrt(area/ratio)))
		if 0 < w && w <= width && 0 < h && h <= height {
			return rand.Intn(width - w + 1), rand.Intn(height - h + 1), w, h
		}
	}
	w, h = width, height
	if ratio, least := float64(width)/float64(height), min(t.ratio[0], t.ratio[1]); ratio < least {
		h = int(math.Round(float64(w) / least))
	} else if most := max(t.ratio[0], t.ratio[1]); ratio > most {
		w = int(math.Round(float64(h) * most))
	}
	return (width - w) / 2, (height - h) / 2, w, h
}
