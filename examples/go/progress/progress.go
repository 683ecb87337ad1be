// Package progress shows how far an epoch of training is.
package progress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"tandem.example/gotorch/dist"
)

// Bar is rank 0's over an epoch: the loss, what all ranks do in a second, time left. Other ranks have none.
type Bar struct {
	bar      *progressbar.ProgressBar
	title    string
	unit     string
	interval time.Duration // of redrawing
	begun    time.Time
	shown    time.Time
	count    int
}

// New shows so many steps. unit is what [Bar.Step] counts, such as "samples".
func New(group *dist.ProcessGroup, title, unit string, steps int) *Bar {
	p := &Bar{title: title, unit: unit, begun: time.Now()}
	if group.Rank() == 0 {
		p.interval = 200 * time.Millisecond
		var out io.Writer = os.Stderr
		if info, err := os.Stderr.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
			p.interval, out = time.Second, withoutBlanks{os.Stderr}
		}
		p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(title),
			progressbar.OptionSetWidth(20), progressbar.OptionThrottle(p.interval),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
	}
	return p
}

// withoutBlanks drops what only clears a terminal's line, which a launcher that prefixes lines does itself, and has each
// line end, not begin, with a return, so that the launcher sees it whole at once.
type withoutBlanks struct{ to io.Writer }

func (w withoutBlanks) Write(text []byte) (int, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return len(text), nil
	}
	if _, err := w.to.Write(slices.Concat(bytes.Trim(text, "\r"), []byte{'\r'})); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Step counts a step, of all ranks together, with its loss as this rank has it.
func (p *Bar) Step(count int, loss float64) {
	if p.bar == nil {
		return
	}
	p.count += count
	if now := time.Now(); now.Sub(p.shown) > p.interval {
		p.shown = now
		p.bar.Describe(fmt.Sprintf("%s: loss %.3f, %.0f %s/s", p.title, loss,
			float64(p.count)/now.Sub(p.begun).Seconds(), p.unit))
	}
	p.bar.Add(1)
}

// Close ends the bar and clears its line.
func (p *Bar) Close() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
