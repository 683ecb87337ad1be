package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// curve collects what the learning curve shows.
type curve struct {
	losses   plotter.XYs // of each step
	accuracy plotter.XYs // after each epoch, by its last step
}

func (c *curve) step(loss float64) {
	c.losses = append(c.losses, plotter.XY{X: float64(len(c.losses) + 1), Y: loss})
}

func (c *curve) epoch(accuracy float64) {
	c.accuracy = append(c.accuracy, plotter.XY{X: float64(len(c.losses)), Y: accuracy})
}

// draw writes a picture of the loss above the accuracy.
func (c *curve) draw(path string) error {
	loss, accuracy := plot.New(), plot.New()
	loss.Title.Text, loss.Y.Label.Text, loss.X.Label.Text = "Training loss", "cross-entropy", "step"
	accuracy.Title.Text, accuracy.Y.Label.Text, accuracy.X.Label.Text = "Test accuracy", "%", "step"
	for _, panel := range []struct {
		plot   *plot.Plot
		points plotter.XYs
		color  color.Color
		dots   bool
	}{
		{loss, c.losses, color.RGBA{R: 0xb8, G: 0xc7, B: 0xe0, A: 0xff}, false},
		{loss, smooth(c.losses), color.RGBA{R: 0x1f, G: 0x4e, B: 0x9c, A: 0xff}, false},
		{accuracy, c.accuracy, color.RGBA{R: 0x2e, G: 0x7d, B: 0x32, A: 0xff}, true},
	} {
		if len(panel.points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(panel.points)
		if err != nil {
			return err
		}
		line.Color, dots.Color, dots.Shape = panel.color, panel.color, draw.CircleGlyph{}
		panel.plot.Add(line)
		if panel.dots {
			panel.plot.Add(dots)
		}
		panel.plot.X.Min = 0
	}
	canvas := vgimg.New(18*vg.Centimeter, 16*vg.Centimeter)
	panels := plot.Align([][]*plot.Plot{{loss}, {accuracy}}, draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Millimeter * 4,
		PadTop: vg.Millimeter * 3, PadBottom: vg.Millimeter * 3, PadLeft: vg.Millimeter * 3, PadRight: vg.Millimeter * 5},
		draw.New(canvas))
	loss.Draw(panels[0][0])
	accuracy.Draw(panels[1][0])
	return writePNG(path, canvas.Image())
}

// smooth is a running mean of about the last ten points.
func smooth(points plotter.XYs) plotter.XYs {
	means := make(plotter.XYs, len(points))
	mean := 0.0
	for i, p := range points {
		weight := max(1/float64(i+1), 0.1)
		mean += weight * (p.Y - mean)
		means[i] = plotter.XY{X: p.X, Y: mean}
	}
	return means
}

// drawDigits writes a picture of the first digits, what they were taken for below each, in red with the truth where
// that was wrong. images holds 28 by 28 pixels for each.
func drawDigits(path string, images []float32, predicted, labels []int) error {
	const columns, rows, scale, side, foot = 10, 5, 3, 28, 18
	const width, height = side*scale + 6, side*scale + foot
	picture := image.NewRGBA(image.Rect(0, 0, columns*width, rows*height))
	for i := range picture.Pix {
		picture.Pix[i] = 0xff
	}
	for n := range min(columns*rows, len(labels)) {
		left, top := n%columns*width+3, n/columns*height+3
		pixels := images[n*side*side : (n+1)*side*side]
		low, high := pixels[0], pixels[0]
		for _, p := range pixels {
			low, high = min(low, p), max(high, p)
		}
		for y := range side * scale {
			for x := range side * scale {
				shade := uint8(255 * (high - pixels[y/scale*side+x/scale]) / max(high-low, 1e-6))
				picture.Set(left+x, top+y, color.Gray{Y: shade})
			}
		}
		text, ink := strconv.Itoa(predicted[n]), color.RGBA{R: 0x2e, G: 0x7d, B: 0x32, A: 0xff}
		if predicted[n] != labels[n] {
			text += ", is " + strconv.Itoa(labels[n])
			ink = color.RGBA{R: 0xc6, G: 0x28, B: 0x28, A: 0xff}
		}
		pen := font.Drawer{Dst: picture, Src: image.NewUniform(ink), Face: basicfont.Face7x13,
			Dot: fixed.P(left+2, top+side*scale+12)}
		pen.DrawString(text)
	}
	return writePNG(path, picture)
}

func writePNG(path string, picture image.Image) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(file, picture); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
