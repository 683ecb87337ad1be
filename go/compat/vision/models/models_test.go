package models_test

import (
	"reflect"
	"strings"
	"testing"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn"
	"tandem.example/gotorch/compat/nn/initializer"
	"tandem.example/gotorch/compat/vision/models"
)

func count(tensors []torch.Tensor) (n int) {
	for _, t := range tensors {
		n += t.Unwrap().Numel()
	}
	return n
}

// The numbers are those of torchvision's resnet18 and resnet50.
func TestSizes(t *testing.T) {
	initializer.ManualSeed(1)
	for name, c := range map[string]struct {
		model               *models.ResnetModule
		parameters, tensors int
	}{
		"Resnet18": {models.Resnet18(), 11689512, 62},
		"Resnet50": {models.Resnet50(), 25557032, 161},
	} {
		if got := c.model.Parameters(); count(got) != c.parameters || len(got) != c.tensors {
			t.Errorf("%s has %d in %d tensors", name, count(got), len(got))
		}
		c.model.Train(false)
		if got := c.model.Forward(torch.RandN([]int64{1, 3, 33, 40}, false)).Shape(); got[0] != 1 || got[1] != 1000 {
			t.Error(name, got)
		}
	}
	state := models.Resnet18().StateDict()
	for _, name := range []string{"ResnetModule.C1.Weight", "ResnetModule.L2.Modules[0].Downsample.Modules[1].RunningVar",
		"ResnetModule.L4.Modules[1].BN2.Bias", "ResnetModule.FC.Weight"} {
		if _, ok := state[name]; !ok {
			t.Error(name, "is missing")
		}
	}
}

// A stage halves the size, but for the first; blocks with groups and another width are ResNeXt's.
func TestBlocks(t *testing.T) {
	initializer.ManualSeed(1)
	x := torch.RandN([]int64{1, 8, 6, 6}, false)
	half := nn.Sequential(nn.Conv2d(8, 16, 1, 2, 0, 1, 1, false, "zeros"))
	if got := models.BasicBlock(8, 16, 2, half, 1, 64, 1).Forward(x).Shape(); !reflect.DeepEqual(got, []int64{1, 16, 3, 3}) {
		t.Error(got)
	}
	wide := models.Bottleneck(8, 2, 1, nil, 4, 32, 2)
	if got := wide.Forward(x).Shape(); !reflect.DeepEqual(got, []int64{1, 8, 6, 6}) {
		t.Error(got)
	}
	if got := wide.C2.Weight.Shape(); !reflect.DeepEqual(got, []int64{4, 1, 3, 3}) {
		t.Error(got)
	}
	if y := wide.Forward(x); torch.Sum(torch.Relu(y)).Item() != torch.Sum(y).Item() {
		t.Error("a block gives negative numbers")
	}
}

func TestMisuse(t *testing.T) {
	for want, f := range map[string]func(){
		"block": func() { models.Resnet(reflect.TypeFor[int](), []int64{1, 1, 1, 1}, 10, false, 1, 64) },
		"stages": func() {
			models.Resnet(reflect.TypeFor[models.BasicBlockModule](), []int64{1}, 10, false, 1, 64)
		},
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, want) {
					t.Errorf("%q, without %q", text, want)
				}
			}()
			f()
		}()
	}
}

func TestMLP(t *testing.T) {
	m := models.MLP()
	y := m.Forward(torch.Ones([]int64{3, 1, 28, 28}, false))
	if got := y.Shape(); got[0] != 3 || got[1] != 10 || count(m.Parameters()) != 669706 {
		t.Error(got, count(m.Parameters()))
	}
	_, ok := m.StateDict()["MLPModule.FC1.Weight"]
	if sum := torch.Sum(y.View(30)).Item().(float32); !ok || sum >= 0 {
		t.Error(ok, sum)
	}
}
