package nn

import (
	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
)

// Opt is an optional option; see gotorch.Opt.
type Opt[T any] = gotorch.Opt[T]

// Some is an option that is set.
func Some[T any](value T) Opt[T] { return gotorch.Some(value) }

// Size of a window, or what else dimensions have: one number for all of them, or one each.
type Size interface {
	int | []int | [2]int | [3]int | [4]int | [6]int
}

func sizeOf[S Size](size S) []int {
	switch v := any(size).(type) {
	case int:
		return []int{v}
	case []int:
		return v
	case [2]int:
		return v[:]
	case [3]int:
		return v[:]
	case [4]int:
		return v[:]
	case [6]int:
		return v[:]
	}
	panic("unreachable")
}

func first[T any](options []T) T { return bridge.First(options) }
