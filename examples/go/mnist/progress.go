package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"tandem.example/gotorch/dist"
)

// progress is rank 0's bar over an epoch: loss, samples a second of all ranks, time left. Other ranks have none.
type progress struct {
	bar     *progressbar.ProgressBar
	title   string
	begun   time.Time
	shown   time.Time
	samples int
}

func newProgress(group *dist.ProcessGroup, title string, steps int) *progress {
	p := &progress{title: title, begun: time.Now()}
	if group.Rank() == 0 {
		p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(title),
			progressbar.OptionSetWidth(20), progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
	}
	return p
}

func (p *progress) step(samples int, loss float64) {
	if p.bar == nil {
		return
	}
	p.samples += samples
	if now := time.Now(); now.Sub(p.shown) > 200*time.Millisecond {
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
