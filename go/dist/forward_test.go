package dist_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// words are a batch: fields that are not exported count as well.
type words struct {
	mask   *gotorch.Tensor
	Tokens []*gotorch.Tensor
	Target *gotorch.Tensor
	Scale  float64
}

type translation struct {
	Logits    *gotorch.Tensor
	Attention [2]*gotorch.Tensor
	Losses    map[string]*gotorch.Tensor
	state     *lstmState
	Length    int
}

type lstmState struct{ Hidden, Cell *gotorch.Tensor }

// translator is an encoder and decoder; what it gives does not lead to all of its parameters alike.
type translator struct {
	nn.Base
	Encoder                           *nn.LSTM
	Head, Masked, Auxiliary, Attended *nn.Linear
}

func newTranslator() *translator {
	if err := gotorch.ManualSeed(11); err != nil {
		panic(err)
	}
	return &translator{Encoder: nn.NewLSTM(3, 4, nn.LSTMOptions{BatchFirst: true}), Head: nn.NewLinear(4, 2),
		Masked: nn.NewLinear(4, 4), Auxiliary: nn.NewLinear(4, 2), Attended: nn.NewLinear(4, 3)}
}

func (m *translator) Translate(w words) translation {
	y, h, c := m.Encoder.ForwardState(w.Tokens[0], nil, nil)
	if w.mask != nil {
		y = y.Mul(m.Masked.Forward(w.mask))
	}
	return translation{
		Logits:    m.Head.Forward(y).MulScalar(w.Scale),
		Attention: [2]*gotorch.Tensor{y.Detach(), m.Attended.Forward(y)},
		Losses:    map[string]*gotorch.Tensor{"auxiliary": m.Auxiliary.Forward(y).Square().Mean(), "none": nil},
		state:     &lstmState{h, c},
		Length:    w.Target.Size(0),
	}
}

// batchOf one rank in a step, of all ranks together for −1.
func batchOf(rank, step int, masked bool, rows ...int) words {
	if rank < 0 {
		one, other := batchOf(0, step, masked, rows...), batchOf(1, step, masked, rows...)
		all := words{Scale: one.Scale, Target: gotorch.Cat([]*gotorch.Tensor{one.Target, other.Target}, 0),
			Tokens: []*gotorch.Tensor{gotorch.Cat([]*gotorch.Tensor{one.Tokens[0], other.Tokens[0]}, 0)}}
		if masked {
			all.mask = gotorch.Cat([]*gotorch.Tensor{one.mask, other.mask}, 0)
		}
		return all
	}
	count := 2
	if len(rows) > 0 {
		count = rows[rank]
	}
	numbers := func(salt int, shape ...int) *gotorch.Tensor {
		size := 1
		for _, n := range shape {
			size *= n
		}
		list := make([]float32, size)
		for i := range list {
			list[i] = float32((i*7+rank*5+step*3+salt)%13)/13 - 0.5
		}
		return gotorch.From(list, shape...)
	}
	w := words{Scale: 2, Tokens: []*gotorch.Tensor{numbers(0, count, 5, 3)}, Target: numbers(1, count, 5, 2)}
	if masked {
		w.mask = numbers(2, count, 5, 4)
	}
	return w
}

func lossOf(out translation, target *gotorch.Tensor, uses int) *gotorch.Tensor {
	loss := out.Logits.Sub(target).Square().Mean()
	switch uses {
	case 1:
		loss = loss.Add(out.Losses["auxiliary"])
	case 2:
		loss = loss.Add(out.Attention[1].Square().Mean())
	}
	return loss
}

// severalValues is one rank of a training, which is to end as that of one process on all ranks' batches.
func severalValues(ctx context.Context) error {
	group, err := dist.Init(ctx)
	if err != nil {
		return err
	}
	defer group.Close()
	how := environment("HOW")
	var options dist.DDPOptions
	options.BucketCapMB = gotorch.Some(0.0)
	options.FindUnusedParameters = !strings.Contains(how, "static")
	options.StaticGraph = strings.Contains(how, "static")
	options.GradientAsBucketView = strings.Contains(how, "views")
	options.AverageBySamples = strings.Contains(how, "samples")
	uses := func(step int) int { return step % 3 }
	masked := func(step int) bool { return step%2 == 0 }
	if options.StaticGraph {
		uses, masked = func(int) int { return 1 }, func(int) bool { return true }
	}
	var rows []int
	if options.AverageBySamples {
		rows = []int{1, 3}
	}
	parts := 1
	if strings.Contains(how, "no_sync") {
		parts = 2
	}

	train := func(model *translator, rank int, backward func(last bool, body func() error) error,
		forward func(w words) translation) error {
		optimizer := optim.SGD(nn.Parameters(model), 0.2)
		for step := range 6 {
			for part := range parts {
				err := backward(part == parts-1, func() error {
					w := batchOf(rank, step+10*part, masked(step), rows...)
					out := forward(w)
					if out.Length != w.Target.Size(0) || out.Losses["none"] != nil || out.state.Cell.Dim() != 3 {
						return fmt.Errorf("what forward gave has changed: %v", out)
					}
					return lossOf(out, w.Target, uses(step)).Backward()
				})
				if err != nil {
					return err
				}
			}
			if err := optimizer.Step(); err != nil {
				return err
			}
			if err := optimizer.ZeroGrad(); err != nil {
				return err
			}
		}
		return nil
	}
	alone := newTranslator()
	if err := train(alone, -1, func(_ bool, body func() error) error { return body() }, alone.Translate); err != nil {
		return err
	}
	model := newTranslator()
	ddp, err := dist.NewDDP(group, model, options)
	if err != nil {
		return err
	}
	defer ddp.Close()
	if err := train(model, group.Rank(), func(last bool, body func() error) error {
		if last {
			return body()
		}
		return ddp.NoSync(body)
	}, func(w words) translation { return dist.Forward(ddp, w, model.Translate) }); err != nil {
		return err
	}
	for i, one := range nn.NamedParameters(model) {
		if err := near(one.Tensor, nn.Parameters(alone)[i], 1e-5); err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
	}
	return nil
}

func TestModulesOfSeveralValuesTrainAsOneProcess(t *testing.T) {
	for _, how := range []string{"search", "search views no_sync", "static", "static no_sync", "samples"} {
		succeed(t, ranks(t, 2, "several values", "HOW="+how))
	}
}

func TestMixedPrecisionCastsInputsAtAnyDepth(t *testing.T) {
	type inputs struct {
		Nested map[string][]*gotorch.Tensor
		ids    *gotorch.Tensor
		none   *gotorch.Tensor
	}
	threads(t, 2, func(_ context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{MixedPrecision: dist.MixedPrecision{Param: gotorch.Some(gotorch.BFloat16)}})
		if err != nil {
			return err
		}
		defer ddp.Close()
		own := input(group.Rank())
		given := inputs{Nested: map[string][]*gotorch.Tensor{"x": {own}}, ids: gotorch.From([]int{1, 2})}
		var dtypes []gotorch.DType
		y := dist.Forward(ddp, given, func(in inputs) *gotorch.Tensor {
			dtypes = []gotorch.DType{in.Nested["x"][0].DType(), in.ids.DType()}
			if in.none != nil {
				dtypes = nil
			}
			return layer.Forward(in.Nested["x"][0])
		})
		if err := check(len(dtypes) == 2 && dtypes[0] == gotorch.BFloat16 && dtypes[1] == gotorch.Int64 &&
			own.DType() == gotorch.Float32 && given.Nested["x"][0] == own, "forward was given %v", dtypes); err != nil {
			return err
		}
		return errors.Join(y.Sum().Backward(), check(layer.Weight.Grad().DType() == gotorch.Float32, "the gradient was cast"))
	})
}

// A module may give a parameter, or what it was given; these stay what they are.
func TestForwardLeavesParametersAndInputsAlone(t *testing.T) {
	threads(t, 2, func(_ context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{FindUnusedParameters: true})
		if err != nil {
			return err
		}
		defer ddp.Close()
		x := input(group.Rank()).SetRequiresGrad(true)
		for range 3 {
			layer.Weight.SetGrad(nil)
			out := dist.Forward(ddp, x, func(x *gotorch.Tensor) []*gotorch.Tensor {
				return []*gotorch.Tensor{layer.Forward(x), layer.Weight, x}
			})
			if err := out[0].Sum().Add(out[1].Sum()).Add(out[2].Sum()).Backward(); err != nil {
				return err
			}
			if err := check(layer.Weight.IsLeaf() && x.IsLeaf() && x.Grad() != nil, "a leaf is one no more"); err != nil {
				return err
			}
			if err := near(layer.Weight.Grad(), meanInput(2).AddScalar(1).Expand(3, 4), 1e-6); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestForwardSaysWhatIsWrongWithItsValues(t *testing.T) {
	type ring struct {
		X    *gotorch.Tensor
		Next *ring
	}
	threads(t, 2, func(_ context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		x := input(group.Rank())
		for message, call := range map[string]func(){
			"forward gives int, which holds no tensor": func() {
				dist.Forward(ddp, x, func(x *gotorch.Tensor) int { return x.Dim() })
			},
			"forward gave no tensor": func() {
				dist.Forward(ddp, x, func(x *gotorch.Tensor) map[string]*gotorch.Tensor { return nil })
			},
			"ring, which must not contain itself": func() {
				dist.Forward(ddp, x, func(x *gotorch.Tensor) *ring {
					r := &ring{X: layer.Forward(x)}
					r.Next = r
					return r
				})
			},
			"which have no order; use strings or whole numbers": func() {
				dist.Forward(ddp, x, func(x *gotorch.Tensor) map[*ring]*gotorch.Tensor {
					return map[*ring]*gotorch.Tensor{{}: layer.Forward(x)}
				})
			},
			"use dist.Forward": func() { (&dist.DDP{Module: newTranslator()}).Forward(x) },
		} {
			err := gotorch.Try(call)
			if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), message) {
				return fmt.Errorf("instead of %q: %v", message, err)
			}
		}
		var none map[string]*gotorch.Tensor
		gotorch.NoGrad(func() {
			none = dist.Forward(ddp, x, func(x *gotorch.Tensor) map[string]*gotorch.Tensor { return nil })
		})
		return errors.Join(check(none == nil, "evaluation gives %v", none), ddp.Forward(x).Sum().Backward())
	})
}

type node struct {
	X    *gotorch.Tensor
	Name string
}

// graph refers to nodes more than once.
type graph struct {
	A, B, Plain *node
	List, Again []*node
	Map         map[string]*gotorch.Tensor
	Y, SameY    *gotorch.Tensor
	ids         *gotorch.Tensor
	state       any
}

func TestForwardKeepsWhatInputsShare(t *testing.T) {
	threads(t, 2, func(_ context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{MixedPrecision: dist.MixedPrecision{Param: gotorch.Some(gotorch.BFloat16)}})
		if err != nil {
			return err
		}
		defer ddp.Close()
		shared, ids := &node{input(group.Rank()), "x"}, gotorch.From([]int{1, 2})
		list, none := []*node{shared, {Name: "no tensor"}}, map[string]*gotorch.Tensor{"none": nil}
		given := graph{A: shared, B: shared, Plain: &node{X: ids}, List: list, Again: list, Map: none, ids: ids, state: *shared}
		var seen graph
		y := dist.Forward(ddp, given, func(in graph) *gotorch.Tensor {
			seen = in
			in.Map["seen"] = nil
			return layer.Forward(in.A.X)
		})
		return errors.Join(
			check(seen.A != shared && seen.A == seen.B && seen.A.Name == "x" && seen.A.X.DType() == gotorch.BFloat16,
				"what two pointers refer to is %p and %p, of %p", seen.A, seen.B, shared),
			check(shared.X.DType() == gotorch.Float32 && list[0] == shared, "what was given was changed"),
			check(seen.Plain == given.Plain && seen.ids == ids && len(none) == 2, "what no tensor is cast in was copied"),
			check(&seen.List[0] == &seen.Again[0] && seen.List[0] == seen.A && seen.List[1] == list[1], "a shared list became two"),
			check(seen.state.(node).X == seen.A.X, "a struct in a private interface was passed over"),
			y.Sum().Backward())
	})
}

func TestForwardKeepsWhatOutputsShare(t *testing.T) {
	threads(t, 2, func(_ context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{FindUnusedParameters: true})
		if err != nil {
			return err
		}
		defer ddp.Close()
		plain, ids := &node{X: input(0)}, gotorch.From([]int{1, 2})
		var inside graph
		forward := func() graph {
			return dist.Forward(ddp, input(group.Rank()), func(x *gotorch.Tensor) graph {
				y := layer.Forward(x)
				made := &node{y, "y"}
				inside = graph{A: made, B: made, Plain: plain, Y: y, SameY: y, ids: ids, state: &node{y, "state"},
					Map: map[string]*gotorch.Tensor{"double": y.MulScalar(2)}}
				return inside
			})
		}
		var evaluated graph
		gotorch.NoGrad(func() { evaluated = forward() })
		if err := check(evaluated.A == inside.A && evaluated.state == inside.state, "evaluation copies"); err != nil {
			return err
		}
		out := forward()
		return errors.Join(
			check(out.A == out.B && out.A != inside.A && out.A.X != inside.A.X && out.A.Name == "y",
				"what two pointers refer to is %p and %p, of %p", out.A, out.B, inside.A),
			check(out.Plain == plain && out.ids == ids, "what has no gradient was copied"),
			check(out.Y == out.A.X && out.SameY == out.Y, "one tensor became several"),
			check(out.state.(*node).X == out.Y && inside.state.(*node).X == inside.Y, "a private interface was passed over"),
			out.Y.Sum().Backward())
	})
}

func TestForwardTellsNoListFromAnEmptyOne(t *testing.T) {
	type lists struct {
		X, Y       *gotorch.Tensor
		None, Some []*gotorch.Tensor
		NoMap, Map map[string]*gotorch.Tensor
	}
	threads(t, 2, func(_ context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{MixedPrecision: dist.MixedPrecision{Param: gotorch.Some(gotorch.BFloat16)}})
		if err != nil {
			return err
		}
		defer ddp.Close()
		kept := func(l lists) bool { return l.None == nil && l.Some != nil && l.NoMap == nil && l.Map != nil }
		given := lists{X: input(group.Rank()), Some: []*gotorch.Tensor{}, Map: map[string]*gotorch.Tensor{}}
		inside := false
		out := dist.Forward(ddp, given, func(in lists) lists {
			inside = kept(in)
			in.Y = layer.Forward(in.X)
			return in
		})
		return errors.Join(check(inside && kept(out), "nil or empty lists have changed"), out.Y.Sum().Backward())
	})
}
