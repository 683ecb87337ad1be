// Package panics turns the panics of gotorch into those of wangkuiyi/gotorch, whose values are strings.
package panics

import (
	"errors"

	core "tandem.example/gotorch"
)

// AsText is deferred: a panic with an error of gotorch goes on as one with the error's text. Others pass.
func AsText() {
	switch value := recover().(type) {
	case nil:
	case error:
		if of := (*core.Error)(nil); errors.As(value, &of) {
			panic(value.Error())
		}
		panic(value)
	default:
		panic(value)
	}
}

// Must panics with the text of an error.
func Must(err error) {
	if err != nil {
		panic(err.Error())
	}
}
