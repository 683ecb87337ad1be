package nn_test

import (
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

func TestNilListsAreInputsLeftOut(t *testing.T) {
	lstm := nn.NewLSTM(2, 3)
	x := gotorch.Rand([]int{4, 1, 2})
	want := lstm.ForwardAll(x)
	for _, none := range []any{nil, (*gotorch.Tensor)(nil), []*gotorch.Tensor(nil), []int(nil)} {
		if got := lstm.ForwardAll(x, none); len(got) != 3 || !got[0].Equal(want[0]) || !got[2].Equal(want[2]) {
			t.Errorf("%T: %v", none, got)
		}
	}
	if err := gotorch.Try(func() { lstm.ForwardAll(x, []*gotorch.Tensor{}) }); err == nil {
		t.Error("an empty list passes for none")
	}
}
