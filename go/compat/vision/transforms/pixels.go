package transforms

import (
	"image"
	"image/draw"
)

// pixels are the bytes of an image, row by row.
type pixels struct {
	data          []byte
	stride        int // bytes from a row to the next
	width, height int
	size          int // bytes of a pixel: one of a gray image, else four, of which the last is not looked at
}

// row has the bytes of a row.
func (p pixels) row(y int) []byte { return p.data[y*p.stride:][:p.width*p.size] }

// channels that matter.
func (p pixels) channels() int { return min(p.size, 3) }

func pixelsOf(img image.Image) pixels {
	b := img.Bounds()
	switch img := img.(type) {
	case *image.Gray:
		return pixels{img.Pix[img.PixOffset(b.Min.X, b.Min.Y):], img.Stride, b.Dx(), b.Dy(), 1}
	case *image.RGBA:
		return pixels{img.Pix[img.PixOffset(b.Min.X, b.Min.Y):], img.Stride, b.Dx(), b.Dy(), 4}
	case *image.NRGBA: // the same but for alpha: transparent pixels keep their color, as in OpenCV
		return pixels{img.Pix[img.PixOffset(b.Min.X, b.Min.Y):], img.Stride, b.Dx(), b.Dy(), 4}
	}
	converted := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(converted, converted.Bounds(), img, b.Min, draw.Src)
	return pixelsOf(converted)
}

// like makes an image of another size, and its pixels.
func (p pixels) like(width, height int) (pixels, image.Image) {
	if p.size == 1 {
		gray := image.NewGray(image.Rect(0, 0, width, height))
		return pixelsOf(gray), gray
	}
	color := image.NewRGBA(image.Rect(0, 0, width, height))
	return pixelsOf(color), color
}

// crop copies a part.
func (p pixels) crop(x, y, width, height int) image.Image {
	to, img := p.like(width, height)
	for row := range height {
		copy(to.row(row), p.row(y + row)[x*p.size:])
	}
	return img
}

// resize interpolates between the four nearest pixels' centers, as OpenCV's INTER_LINEAR does.
func (p pixels) resize(width, height int) image.Image {
	to, img := p.like(width, height)
	columns := neighbours(p.width, width)
	for y, v := range neighbours(p.height, height) {
		above, below, row := p.row(v.first), p.row(v.second), to.row(y)
		for x, h := range columns {
			for c := range p.size {
				left, right := h.first*p.size+c, h.second*p.size+c
				top := float32(above[left])*(1-h.weight) + float32(above[right])*h.weight
				bottom := float32(below[left])*(1-h.weight) + float32(below[right])*h.weight
				row[x*p.size+c] = byte(top*(1-v.weight) + bottom*v.weight + 0.5)
			}
		}
	}
	return img
}

// neighbour is between which two pixels one of the resized image lies, and how much the second counts.
type neighbour struct {
	first, second int
	weight        float32
}

func neighbours(from, to int) []neighbour {
	list := make([]neighbour, to)
	scale := float32(from) / float32(to)
	for i := range list {
		at := max(0, min((float32(i)+0.5)*scale-0.5, float32(from-1)))
		first := int(at)
		list[i] = neighbour{first, min(first+1, from-1), at - float32(first)}
	}
	return list
}
