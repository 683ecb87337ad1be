package main

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

// progress is rank 0's bar over an epoch: loss, samples a second of all ranks, time left. Other ranks have none.
type progress struct {
	bar      *progressbar.ProgressBar
	title    string
	interval time.Duration // of redrawing
	begun    time.Time
	shown    time.Time
	samples  int
}

func newProgress(group *dist.ProcessGroup, title string, steps int) *progress {
	p := &progress{title: title, begun: time.Now()}
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

func (p *progress) step(samples int, loss float64) {
	if p.bar == nil {
		return
	}
	p.samples += samples
	if now := time.Now(); now.Sub(p.shown) > p.interval {
		p.shown = now
		p.bar.Describe(fmt.Sprintf("%s: loss %.3f, %.0f samples/s", p.title, loss,
			float64(p.samples)/now.Sub(p.begun).Seconds()))
	}
	p.bar.Add(1)
}

func (p *progress) close() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
