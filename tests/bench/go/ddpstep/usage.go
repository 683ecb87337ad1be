package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// usage is what the kernel counted for threads of one name: times in ms, and numbers of events.
type usage struct {
	CPU         float64 `json:"cpu_ms"`
	Waiting     float64 `json:"runqueue_ms"` // ready to run, while another thread had the core
	Switches    float64 `json:"switches"`    // the thread waited for something
	Preemptions float64 `json:"preemptions"` // it would have gone on
	Faults      float64 `json:"faults"`      // pages that were touched first, or came back
}

// usageByThread reads what this process's threads have used so far, by their names. The kernel's counts of a thread that
// ended are lost: the threads of a training loop stay.
func usageByThread() (map[string]usage, error) {
	tasks, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		return nil, err
	}
	threads := map[string]usage{}
	for _, task := range tasks {
		name, one, err := usageOf(task)
		if os.IsNotExist(err) {
			continue // it has ended
		}
		if err != nil {
			return nil, err
		}
		threads[name] = threads[name].plus(one, 1)
	}
	return threads, nil
}

func usageOf(task string) (name string, u usage, err error) {
	var texts [4]string
	for i, file := range []string{"comm", "schedstat", "stat", "status"} {
		content, err := os.ReadFile(filepath.Join(task, file))
		if err != nil {
			return "", u, err
		}
		texts[i] = string(content)
	}
	// proc(5): schedstat has ns on a core, ns ready to run, and slices.
	if _, err := fmt.Sscan(texts[1], &u.CPU, &u.Waiting); err != nil {
		return "", u, fmt.Errorf("%s/schedstat: %w", task, err)
	}
	u.CPU, u.Waiting = u.CPU/1e6, u.Waiting/1e6
	// What follows the name, which may have blanks: state, ..., and minor faults as the eighth.
	fields := strings.Fields(texts[2][strings.LastIndexByte(texts[2], ')')+1:])
	if len(fields) < 8 {
		return "", u, fmt.Errorf("%s/stat has %d fields", task, len(fields))
	}
	if u.Faults, err = strconv.ParseFloat(fields[7], 64); err != nil {
		return "", u, err
	}
	for key, value := range map[string]*float64{"\nvoluntary_ctxt_switches:": &u.Switches, "\nnonvoluntary_ctxt_switches:": &u.Preemptions} {
		_, after, found := strings.Cut(texts[3], key)
		if !found {
			return "", u, fmt.Errorf("%s/status has no %q", task, key)
		}
		if _, err := fmt.Sscan(after, value); err != nil {
			return "", u, err
		}
	}
	return strings.TrimSpace(texts[0]), u, nil
}

func (u usage) plus(other usage, times float64) usage {
	return usage{u.CPU + times*other.CPU, u.Waiting + times*other.Waiting, u.Switches + times*other.Switches,
		u.Preemptions + times*other.Preemptions, u.Faults + times*other.Faults}
}

// usageAStep is the difference of two readings, for one of the steps between them.
func usageAStep(before, after map[string]usage, steps int) map[string]usage {
	each := map[string]usage{}
	for name, now := range after {
		each[name] = usage{}.plus(now.plus(before[name], -1), 1/float64(max(steps, 1)))
	}
	return each
}
