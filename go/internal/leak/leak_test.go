package leak

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

type thing struct{ watch *Watch }

func newThing() *thing {
	t := &thing{}
	t.watch = Track(t, "thing")
	return t
}

func makeThing() *thing { return newThing() }

func TestReportsWhatIsDroppedUnclosed(t *testing.T) {
	reports := make(chan string, 10)
	old := Report
	Report = func(kind, where string) { reports <- kind + " " + where }
	defer func() { Report = old }()

	closed := makeThing()
	if len(Open()) != 1 || !closed.watch.Done() || closed.watch.Done() || len(Open()) != 0 {
		t.Fatal("Done, Open", Open())
	}
	closed = nil
	makeThing()
	for range 100 {
		runtime.GC()
		select {
		case report := <-reports:
			if !strings.HasPrefix(report, "thing ") || !strings.Contains(report, "makeThing") {
				t.Fatal(report)
			}
			if len(reports) > 0 {
				t.Fatal(<-reports)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("nothing was reported")
}
