// Package transforms prepares images for networks, with the signatures of wangkuiyi/gotorch, but for images of package
// image where that module has OpenCV's. Images are *image.Gray, or *image.RGBA whose alpha is not looked at; others are
// converted. Random transforms draw from package math/rand.
package transforms

import (
	"fmt"
	"reflect"
)

// Transform is anything with a method Run.
type Transform any

// ComposeTransformer is one transform after the other.
type ComposeTransformer struct {
	Transforms []any // each has a method Run
}

// Compose makes a ComposeTransformer.
func Compose(transforms ...any) *ComposeTransformer { return &ComposeTransformer{transforms} }

// Run gives what each transform's Run gives to the next one, whatever values they take and give. The last one must give
// one.
func (t *ComposeTransformer) Run(inputs ...any) any {
	for _, transform := range t.Transforms {
		run := reflect.ValueOf(transform).MethodByName("Run")
		if !run.IsValid() {
			panic(fmt.Sprintf("Compose: %T has no exported method Run", transform))
		}
		arguments := make([]reflect.Value, len(inputs))
		for i, input := range inputs {
			arguments[i] = reflect.ValueOf(input)
		}
		inputs = inputs[:0:0]
		for _, result := range run.Call(arguments) {
			inputs = append(inputs, result.Interface())
		}
	}
	if len(inputs) != 1 {
		panic(fmt.Sprintf("Compose: the last transform gives %d values; it must give one", len(inputs)))
	}
	return inputs[0]
}
