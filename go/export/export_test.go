package export_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/nn"
)

// What tests/cpp/exported/models.py made with Python's torch.
const files = "../../tests/cpp/exported/"

func load(t *testing.T, name string, options ...export.Options) *export.Program {
	t.Helper()
	program, err := export.Load(files+"files/"+name+".pt2", options...)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// pattern is that of models.py.
func pattern(shape []int, seed int) *gotorch.Tensor {
	count := 1
	for _, size := range shape {
		count *= size
	}
	numbers := make([]float64, count)
	for i := range numbers {
		numbers[i] = float64((int64(i)*2654435761+int64(seed)*40503+12345)%(1<<32))/(1<<32) - 0.5
	}
	return gotorch.NewTensor(numbers).Reshape(shape...)
}

func classes(shape []int, seed, most int) *gotorch.Tensor {
	count := 1
	for _, size := range shape {
		count *= size
	}
	numbers := make([]int64, count)
	for i := range numbers {
		numbers[i] = (int64(i)*7919 + int64(seed)*104729) % int64(most)
	}
	return gotorch.NewTensor(numbers).Reshape(shape...)
}

type reference struct {
	Outputs []struct{ Tensor []any }
	State   map[string][]any
	Trained map[string][]any
}

func references(t testing.TB) map[string]reference {
	t.Helper()
	data, err := os.ReadFile(files + "references.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]reference
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// same compares with models.py's digest: the shape and three sums.
func same(tensor *gotorch.Tensor, digest []any, tolerance float64) bool {
	same := false
	gotorch.Scope(func() {
		flat := tensor.Detach().To(gotorch.Float64).Reshape(-1)
		size := float64(0)
		if flat.Numel() > 0 {
			size = flat.Abs().Sum().Item()
		}
		weighted := flat.Mul(pattern([]int{flat.Numel()}, 99)).Sum().Item()
		scale := tolerance * math.Max(1, size)
		same = math.Abs(flat.Sum().Item()-digest[1].(float64)) <= scale && math.Abs(weighted-digest[2].(float64)) <= scale &&
			math.Abs(size-digest[3].(float64)) <= scale
	})
	return same
}

func message(t *testing.T, code gotorch.Code, body func()) string {
	t.Helper()
	err := gotorch.Try(body)
	var own *gotorch.Error
	if !errors.As(err, &own) || own.Code != code {
		t.Fatalf("%v, and not an error of code %v", err, code)
	}
	return err.Error()
}

func TestProgramsGiveWhatPythonGives(t *testing.T) {
	gotorch.Scope(func() {
		all := references(t)
		if y := load(t, "mlp").Forward(pattern([]int{4, 6}, 1)); !same(y, all["mlp"].Outputs[0].Tensor, 1e-12) {
			t.Errorf("mlp gives %v", y)
		}
		lstm := load(t, "lstm").Call(pattern([]int{3, 5, 5}, 1)).(gotorch.Tuple)
		state := lstm[1].(gotorch.Tuple)
		for i, one := range []any{lstm[0], state[0], state[1]} {
			if !same(one.(*gotorch.Tensor), all["lstm"].Outputs[i].Tensor, 1e-12) {
				t.Errorf("output %d of the LSTM is %v", i, one)
			}
		}
		decoder := load(t, "decoder").Call(classes([]int{2, 5}, 1, 13)).(map[string]any)
		if !same(decoder["logits"].(*gotorch.Tensor), all["decoder"].Outputs[0].Tensor, 1e-12) {
			t.Errorf("the decoder gives %v", decoder)
		}
		regions := load(t, "regions")
		out := regions.Call(pattern([]int{4, 3}, 1), 3, "sum", map[string]any{
			"weights": gotorch.Tuple{pattern([]int{3, 3}, 4)}, "factor": pattern([]int{1}, 5)}).(gotorch.Tuple)
		if out[2] != 5 || out[3] != nil || !same(out[4].(*gotorch.Tensor), all["regions"].Outputs[len(all["regions"].Outputs)-1].Tensor, 1e-12) {
			t.Errorf("regions gives %v", out)
		}
		var names []string
		for _, input := range regions.Inputs() {
			names = append(names, input.Name)
		}
		if !slices.Equal(names, []string{"x", "count", "name", "options_weights_0", "options_factor"}) {
			t.Errorf("its inputs are %q", names)
		}
	})
}

func TestTiedParametersAreOne(t *testing.T) {
	program := load(t, "decoder")
	state := nn.State(program)
	if state["lm_head.weight"] == nil || state["lm_head.weight"] != state["model.embed_tokens.weight"] {
		t.Error("the tied parameter is two tensors")
	}
	if got, want := slices.Sorted(maps.Keys(state)), slices.Sorted(maps.Keys(references(t)["decoder"].State)); !slices.Equal(got, want) {
		t.Errorf("its state has %q, and Python's %q", got, want)
	}
	if count := len(nn.Parameters(program)); count != len(state)-1 {
		t.Errorf("it has %d parameters, under %d names", count, len(state))
	}
}

func TestModesChangeBetweenTwoArchives(t *testing.T) {
	gotorch.Scope(func() {
		all := references(t)
		x := pattern([]int{4, 1, 8, 8}, 1)
		program := load(t, "cnn", export.Options{OtherMode: files + "files/cnn_eval.pt2"})
		if !program.IsTraining() {
			t.Error("it was exported in training mode")
		}
		nn.Eval(program)
		if y := program.Forward(x); !same(y, all["cnn_eval"].Outputs[0].Tensor, 1e-12) {
			t.Errorf("evaluated it gives %v", y)
		}
		nn.Train(program)
		if y := program.Forward(x); !same(y, all["cnn"].Outputs[0].Tensor, 1e-12) {
			t.Errorf("training it gives %v", y)
		}
		one := load(t, "cnn_eval")
		if one.IsTraining() {
			t.Error("it was exported in evaluation mode")
		}
		if text := message(t, gotorch.ErrUnsupported, func() { nn.Train(one) }); !strings.Contains(text, "has no training mode") {
			t.Error(text)
		}
	})
}

// compiled is what the build makes of tests/cpp/exported/compiled_mlp.cpp, whose results lie column by column.
func compiled(t *testing.T) string {
	t.Helper()
	build := os.Getenv("TANDEM_TEST_BUILD")
	if build == "" {
		t.Skip("TANDEM_TEST_BUILD does not name the build, which CTest does")
	}
	return filepath.Join(build, "tests", "compiled_mlp.pt2")
}

func TestCompiledCodeRunsWithoutGradients(t *testing.T) {
	pack := compiled(t)
	gotorch.Scope(func() {
		program := load(t, "mlp_eval", export.Options{Compiled: pack})
		x := pattern([]int{4, 6}, 1)
		graph := program.Forward(x)
		if strides := graph.Strides(); !slices.Equal(strides, []int{3, 1}) {
			t.Errorf("with gradients the strides are %v, and not the graph's", strides)
		}
		gotorch.NoGrad(func() {
			y := program.Forward(x)
			if strides := y.Strides(); !slices.Equal(strides, []int{1, 4}) {
				t.Errorf("without gradients the strides are %v, and not those of the compiled code", strides)
			}
			if difference := y.Sub(graph).Abs().Max().Item(); difference > 1e-12 {
				t.Errorf("the compiled code's results differ by %v", difference)
			}
		})
	})
	var own *gotorch.Error
	_, err := export.Load(files+"files/cnn_eval.pt2", export.Options{Compiled: pack})
	if !errors.As(err, &own) || own.Code != gotorch.ErrInvalidArgument || !strings.Contains(err.Error(), "compiled from another program") {
		t.Errorf("a package of another program gives %v", err)
	}
}

func TestMistakes(t *testing.T) {
	program := load(t, "mlp")
	for _, one := range []struct {
		body func()
		want string
	}{
		{func() { program.Forward(pattern([]int{4, 7}, 1)) }, "size 1 of x is 7, but the program was exported for 6"},
		{func() { program.Call(pattern([]int{65, 6}, 1)) }, "the program was exported for 1 to 64"},
		{func() { program.Call() }, "the program also takes x (Double["},
		{func() { program.Call(struct{}{}) }, "argument 0 is a struct {}"},
		{func() { program.Call(pattern([]int{4, 6}, 1), 1) }, "takes 1 arguments (x), not 2"},
	} {
		if text := message(t, gotorch.ErrInvalidArgument, one.body); !strings.Contains(text, one.want) {
			t.Errorf("%q does not say %q", text, one.want)
		}
	}
	if _, err := export.Load(filepath.Join(t.TempDir(), "none.pt2")); !errors.Is(err, gotorch.ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := export.Load("../../tests/jit/files/mlp.pt"); !errors.Is(err, gotorch.ErrUnsupported) ||
		!strings.Contains(err.Error(), "is a TorchScript module") {
		t.Errorf("a file of TorchScript: %v", err)
	}
}

func TestGoroutinesShareAProgram(t *testing.T) {
	wanted := references(t)["decoder_eval"].Outputs[0].Tensor
	program := load(t, "decoder_eval")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			gotorch.InferenceMode(func() {
				gotorch.Scope(func() {
					out := program.Call(classes([]int{2, 5}, 1, 13)).(map[string]any)
					if !same(out["logits"].(*gotorch.Tensor), wanted, 1e-12) {
						t.Errorf("a goroutine gets %v", out["logits"])
					}
				})
			})
		})
	}
	all.Wait()
}
