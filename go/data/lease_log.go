package data

import (
	"encoding/json"
	"fmt"
)

// Quarantined is a sample that could not be loaded, or computed, again and again, and is left out from then on.
type Quarantined struct {
	Sample   int    `json:"sample"`
	Epoch    int    `json:"epoch"` // when that was so
	Step     int    `json:"step"`  // of that epoch, the first one without it
	Failures int    `json:"failures"`
	Reason   string `json:"reason"` // of the last one
}

// CommittedStep is the record of who computed what in a step. As JSON, a line each, such records are the log of a run,
// which [DynamicOptions].Replay runs again.
type CommittedStep struct {
	Generation int           `json:"generation"`
	Epoch      int           `json:"epoch"`
	Step       int           `json:"step"`
	Parts      []StepPart    `json:"parts"`    // in the order in which they were leased
	LeftOut    []Quarantined `json:"left_out"` // of this step's samples, for the first time

	// Samples that could not be read and were left out ([SkipIO]), by part and by place in it.
	Skipped []SkippedSamples `json:"skipped,omitempty"`
}

// SkippedSamples are some of a part that follow each other. As JSON they are [Micro, First, Count].
type SkippedSamples struct {
	Micro int // the part's number in the global batch
	First int // the first one's place in the part, of which nothing is left out yet
	Count int
}

// MarshalJSON gives [Micro, First, Count].
func (s SkippedSamples) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]int{s.Micro, s.First, s.Count})
}

// UnmarshalJSON takes [Micro, First, Count].
func (s *SkippedSamples) UnmarshalJSON(text []byte) error {
	numbers, err := threeOf(text, "what was skipped of a step is [micro, first, count]")
	*s = SkippedSamples{numbers[0], numbers[1], numbers[2]}
	return err
}

// StepPart is a micro-batch of a step. As JSON it is [Micro, Rank, Samples].
type StepPart struct {
	Micro   int // its number in the global batch
	Rank    int // that computed it
	Samples int // in it, without those that were left out
}

// MarshalJSON gives [Micro, Rank, Samples].
func (p StepPart) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]int{p.Micro, p.Rank, p.Samples})
}

// UnmarshalJSON takes [Micro, Rank, Samples].
func (p *StepPart) UnmarshalJSON(text []byte) error {
	numbers, err := threeOf(text, "a part of a step is [micro, rank, samples]")
	*p = StepPart{numbers[0], numbers[1], numbers[2]}
	return err
}

func threeOf(text []byte, what string) (three [3]int, err error) {
	var numbers []int
	if err := json.Unmarshal(text, &numbers); err != nil {
		return three, err
	}
	if copy(three[:], numbers); len(numbers) != len(three) {
		return [3]int{}, fmt.Errorf("data: %s, not %s", what, text)
	}
	return three, nil
}

// records has a text a step. Nil slices are empty ones to libtandem too.
func records(log []CommittedStep) ([]string, error) {
	var all []string
	for _, step := range log {
		if step.Parts == nil {
			step.Parts = []StepPart{}
		}
		if step.LeftOut == nil {
			step.LeftOut = []Quarantined{}
		}
		record, err := json.Marshal(step)
		if err != nil {
			return nil, err
		}
		all = append(all, string(record))
	}
	return all, nil
}
