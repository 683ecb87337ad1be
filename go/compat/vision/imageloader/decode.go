package imageloader

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	_ "image/gif" // formats that files may have
	_ "image/jpeg"
	_ "image/png"
)

// Colors of the tensors that a loader gives.
const (
	RGB  string = "rgb"
	GRAY string = "gray"
)

// mostPixels of an image that is decoded: its header is believed no further.
const mostPixels = 1 << 27

func decode(encoded []byte, colors string) (image.Image, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > mostPixels/config.Height {
		return nil, fmt.Errorf("its header says %d x %d pixels", config.Width, config.Height)
	}
	decoded, _, err := image.Decode(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	bounds := image.Rect(0, 0, config.Width, config.Height)
	var img draw.Image
	switch decoded.(type) {
	case *image.Gray:
		if colors == GRAY {
			return decoded, nil
		}
	case *image.RGBA, *image.NRGBA:
		if colors == RGB {
			return decoded, nil
		}
	}
	if colors == GRAY {
		img = image.NewGray(bounds)
	} else {
		img = image.NewRGBA(bounds)
	}
	draw.Draw(img, bounds, decoded, decoded.Bounds().Min, draw.Src)
	return img, nil
}
