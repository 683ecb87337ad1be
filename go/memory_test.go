package gotorch

import (
	"testing"
	"time"
)

// As long as each collection takes its time, whatever lies between them.
func TestGarbageMayPileUpUntilCollectingTakesAQuarterOfTheTime(t *testing.T) {
	const collecting = time.Millisecond // of a program with many objects
	between := func(slack int64) time.Duration { return time.Duration(slack/leastSlack) * 2 * time.Millisecond }
	slack := int64(leastSlack)
	for range 20 {
		slack = slackAfter(slack, collecting, between(slack))
	}
	if share := float64(collecting) / float64(collecting+between(slack)); share > 0.26 || slack > mostSlack {
		t.Errorf("collecting takes %.2f of the time with %d bytes between collections", share, slack)
	}
	for range 20 {
		slack = slackAfter(slack, collecting/100, between(slack))
	}
	if slack != leastSlack {
		t.Errorf("%d bytes between collections that are quick", slack)
	}
	if slack = slackAfter(mostSlack, time.Hour, 0); slack != mostSlack {
		t.Errorf("%d bytes are let pile up, at most %d are to be", slack, mostSlack)
	}
}
