package names_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/recordio"
	"tandem.example/gotorch/rpc"
)

// wrong is a value that an option does not take, and how the error is to call it: as Go's API does.
type wrong struct {
	name string
	give func() error
}

var snake = regexp.MustCompile(`\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b`)

func check(t *testing.T, all []wrong) {
	t.Helper()
	for _, one := range all {
		var err error
		if problem := gotorch.Try(func() { err = one.give() }); problem != nil {
			err = problem
		}
		switch {
		case err == nil:
			t.Errorf("%s: the wrong value was taken", one.name)
		case !strings.Contains(err.Error(), one.name):
			t.Errorf("%s is not named: %v", one.name, err)
		case snake.MatchString(err.Error()):
			t.Errorf("%s: a name of C's: %v", one.name, err)
		}
	}
}

// made has what a constructor made closed, as wrong values were taken.
func made[T interface{ Close() error }](one T, err error) error {
	if err == nil {
		one.Close()
	}
	return err
}

func TestErrorsOfOptimizersNameGosOptions(t *testing.T) {
	p := []*gotorch.Tensor{gotorch.Ones([]int{2}).SetRequiresGrad(true)}
	m := []*gotorch.Tensor{gotorch.Ones([]int{2, 2}).SetRequiresGrad(true)}
	sgd := func(o optim.SGDOptions) func() error {
		return func() error { optim.SGD(p, 0.1, o); return nil }
	}
	adam := func(o optim.AdamOptions) func() error {
		return func() error { optim.Adam(p, 0.1, o); optim.AdamW(p, 0.1, o); return nil }
	}
	adagrad := func(o optim.AdagradOptions) func() error {
		return func() error { optim.Adagrad(p, 0.1, o); return nil }
	}
	rmsprop := func(o optim.RMSpropOptions) func() error {
		return func() error { optim.RMSprop(p, 0.1, o); return nil }
	}
	scaler := func(o optim.GradScalerOptions) func() error {
		return func() error { optim.NewGradScaler(o); return nil }
	}
	check(t, []wrong{
		{"lr", func() error { optim.SGD(p, -1); return nil }},
		{"Momentum", sgd(optim.SGDOptions{Momentum: -1})},
		{"WeightDecay", sgd(optim.SGDOptions{WeightDecay: -1})},
		{"Nesterov", sgd(optim.SGDOptions{Nesterov: true})},
		{"Betas", adam(optim.AdamOptions{Betas: optim.Some([2]float64{2, 2})})},
		{"Eps", adam(optim.AdamOptions{Eps: optim.Some(-1.0)})},
		{"WeightDecay", adam(optim.AdamOptions{WeightDecay: optim.Some(-1.0)})},
		{"LRDecay", adagrad(optim.AdagradOptions{LRDecay: -1})},
		{"WeightDecay", adagrad(optim.AdagradOptions{WeightDecay: -1})},
		{"InitialAccumulatorValue", adagrad(optim.AdagradOptions{InitialAccumulatorValue: -1})},
		{"Eps", adagrad(optim.AdagradOptions{Eps: optim.Some(-1.0)})},
		{"Alpha", rmsprop(optim.RMSpropOptions{Alpha: optim.Some(-1.0)})},
		{"Eps", rmsprop(optim.RMSpropOptions{Eps: optim.Some(-1.0)})},
		{"WeightDecay", rmsprop(optim.RMSpropOptions{WeightDecay: -1})},
		{"Momentum", rmsprop(optim.RMSpropOptions{Momentum: -1})},
		{"Rho", func() error { optim.Adadelta(p, 1, optim.AdadeltaOptions{Rho: optim.Some(2.0)}); return nil }},
		{"Betas[1]", func() error {
			optim.NAdam(p, 1, optim.NAdamOptions{Betas: optim.Some([2]float64{0, 1})})
			return nil
		}},
		{"MomentumDecay", func() error { optim.NAdam(p, 1, optim.NAdamOptions{MomentumDecay: optim.Some(-1.0)}); return nil }},
		{"WeightDecay", func() error { optim.RAdam(p, 1, optim.RAdamOptions{WeightDecay: -1}); return nil }},
		{"WeightDecay", func() error { optim.Adamax(p, 1, optim.AdamaxOptions{WeightDecay: -1}); return nil }},
		{"WeightDecay", func() error { optim.ASGD(p, 1, optim.ASGDOptions{WeightDecay: -1}); return nil }},
		{"Etas[1]", func() error { optim.Rprop(p, 1, optim.RpropOptions{Etas: optim.Some([2]float64{0.5, 1})}); return nil }},
		{"Eps", func() error {
			optim.SparseAdam(p, 1, optim.SparseAdamOptions{Eps: optim.Some(0.0)})
			return nil
		}},
		{"Beta2Decay", func() error {
			optim.Adafactor(p, 1, optim.AdafactorOptions{Beta2Decay: optim.Some(0.5)})
			return nil
		}},
		{"D is 0.5", func() error { optim.Adafactor(p, 1, optim.AdafactorOptions{D: optim.Some(0.5)}); return nil }},
		{"NSSteps", func() error { optim.Muon(m, 1, optim.MuonOptions{NSSteps: optim.Some(-1)}); return nil }},
		{"lr is -1", func() error { optim.LBFGS(p, -1); return nil }},
		{"HistorySize", func() error { optim.LBFGS(p, 1, optim.LBFGSOptions{HistorySize: optim.Some(0)}); return nil }},
		{"MostValues", func() error {
			_, err := gotorch.LoadPt("none.pt", gotorch.PtOptions{MostValues: -1})
			return err
		}},
		{"shardBytes", func() error { return gotorch.SaveSharded(t.TempDir(), nil, -1) }},
		{"GrowthFactor", scaler(optim.GradScalerOptions{GrowthFactor: 0.5})},
		{"BackoffFactor", scaler(optim.GradScalerOptions{BackoffFactor: 2})},
		{"GrowthInterval", scaler(optim.GradScalerOptions{GrowthInterval: -1})},
		{"scale", scaler(optim.GradScalerOptions{InitScale: -1})},
		{"GrowthTracker", func() error {
			s := optim.NewGradScaler()
			state := s.State()
			state.GrowthTracker = -1
			return s.LoadState(state)
		}},
	})
}

func TestErrorsOfSchedulersNameGosOptions(t *testing.T) {
	o := optim.SGD([]*gotorch.Tensor{gotorch.Ones([]int{2}).SetRequiresGrad(true)}, 0.1)
	one := []float64{1}
	check(t, []wrong{
		{"stepSize", func() error { optim.StepLR(o, 0); return nil }},
		{"LastEpoch", func() error { optim.StepLR(o, 1, optim.StepLROptions{LastEpoch: optim.Some(-2)}); return nil }},
		{"Factor", func() error { optim.ConstantLR(o, optim.ConstantLROptions{Factor: optim.Some(2.0)}); return nil }},
		{"StartFactor", func() error { optim.LinearLR(o, optim.LinearLROptions{StartFactor: optim.Some(2.0)}); return nil }},
		{"EndFactor", func() error { optim.LinearLR(o, optim.LinearLROptions{EndFactor: optim.Some(2.0)}); return nil }},
		{"tMax", func() error { optim.CosineAnnealingLR(o, 0); return nil }},
		{"t0", func() error { optim.CosineAnnealingWarmRestarts(o, 0); return nil }},
		{"TMult", func() error {
			optim.CosineAnnealingWarmRestarts(o, 1, optim.WarmRestartsOptions{TMult: optim.Some(0)})
			return nil
		}},
		{"baseLR", func() error { optim.CyclicLR(o, []float64{1, 2, 3}, one); return nil }},
		{"maxLR", func() error { optim.CyclicLR(o, one, []float64{1, 2, 3}); return nil }},
		{"StepSizeUp", func() error {
			optim.CyclicLR(o, one, one, optim.CyclicLROptions{StepSizeUp: optim.Some(0)})
			return nil
		}},
		{"StepSizeDown", func() error {
			optim.CyclicLR(o, one, one, optim.CyclicLROptions{StepSizeDown: optim.Some(0)})
			return nil
		}},
		{"ScaleMode", func() error { optim.CyclicLR(o, one, one, optim.CyclicLROptions{ScaleMode: "steps"}); return nil }},
		{"CycleMomentum", func() error {
			optim.CyclicLR(optim.Adagrad([]*gotorch.Tensor{gotorch.Ones([]int{2}).SetRequiresGrad(true)}, 1), one, one)
			return nil
		}},
		{"TotalSteps", func() error { optim.OneCycleLR(o, one); return nil }},
		{"PctStart", func() error {
			optim.OneCycleLR(o, one, optim.OneCycleLROptions{TotalSteps: optim.Some(9), PctStart: optim.Some(2.0)})
			return nil
		}},
		{"AnnealStrategy", func() error { optim.SWALR(o, one, optim.SWALROptions{AnnealStrategy: "exp"}); return nil }},
		{"swaLR", func() error { optim.SWALR(o, []float64{1, 2, 3}); return nil }},
		{"AnnealEpochs", func() error { optim.SWALR(o, one, optim.SWALROptions{AnnealEpochs: optim.Some(-1)}); return nil }},
		{"Factor", func() error { optim.ReduceLROnPlateau(o, optim.PlateauOptions{Factor: optim.Some(1.0)}); return nil }},
		{"ThresholdMode", func() error { optim.ReduceLROnPlateau(o, optim.PlateauOptions{ThresholdMode: "far"}); return nil }},
		{"MinLR", func() error { optim.ReduceLROnPlateau(o, optim.PlateauOptions{MinLR: []float64{1, 2, 3}}); return nil }},
	})
}

func TestErrorsOfModulesNameGosOptions(t *testing.T) {
	conv := func(o nn.ConvOptions) func() error {
		return func() error { nn.NewConv2d(4, 4, 3, o); return nil }
	}
	check(t, []wrong{
		{"nn.NewLinear", func() error { nn.NewLinear(1, -1); return nil }},
		{"Stride", conv(nn.ConvOptions{Stride: []int{1, 2, 3}})},
		{"Groups", conv(nn.ConvOptions{Groups: 3})},
		{"PaddingMode", conv(nn.ConvOptions{PaddingMode: "nothing"})},
		{"PaddingIdx", func() error { nn.NewEmbedding(3, 2, nn.EmbeddingOptions{PaddingIdx: nn.Some(9)}); return nil }},
		{"NumLayers", func() error { nn.NewLSTM(2, 2, nn.LSTMOptions{NumLayers: -1}); return nil }},
		{"Dropout", func() error { nn.NewGRU(2, 2, nn.GRUOptions{Dropout: 2}); return nil }},
		{"replicas", func() error {
			nn.NewDataParallel(nn.NewLinear(1, 1), nn.DataParallelOptions{Replicas: -1}).Close()
			return nil
		}},
	})
}

func TestErrorsOfGroupsNameGosOptions(t *testing.T) {
	ctx := t.Context()
	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	name := 0
	init := func(o dist.Options) func() error {
		name++
		o.Store, o.Name = store, fmt.Sprint("wrong", name)
		if o.Backend == "" {
			o.Backend = "gloo"
		}
		return func() error { return made(dist.Init(ctx, o)) }
	}
	check(t, []wrong{
		{"imeout", func() error {
			return made(dist.NewTCPStore("127.0.0.1", 0, dist.TCPStoreOptions{Server: true, Timeout: -time.Second}))
		}},
		{"worldSize", func() error { return made(dist.NewFileStore(filepath.Join(t.TempDir(), "store"), -1)) }},
		{"WorldSize", init(dist.Options{Rank: gotorch.Some(0), WorldSize: -5})},
		{"Rank", init(dist.Options{Rank: gotorch.Some(-3), WorldSize: 2})},
		{"rank", init(dist.Options{Rank: gotorch.Some(3), WorldSize: 2})},
		{"imeout", init(dist.Options{Rank: gotorch.Some(0), WorldSize: 1, Timeout: -time.Second})},
		{"smoke", init(dist.Options{Rank: gotorch.Some(0), WorldSize: 1, Backend: "smoke"})},
	})
	group, err := dist.Init(ctx, dist.Options{Backend: "gloo", Store: store, Rank: gotorch.Some(0), WorldSize: 1, Name: "right"})
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	ddp := func(o dist.DDPOptions) func() error {
		return func() error { return made(dist.NewDDP(group, nn.NewLinear(2, 2), o)) }
	}
	with := func(use func(*dist.DDP) error) func() error {
		return func() error {
			d, err := dist.NewDDP(group, nn.NewLinear(2, 2))
			if err != nil {
				return err
			}
			defer d.Close()
			return use(d)
		}
	}
	hook := func(h dist.CommHook) func() error { return with(func(d *dist.DDP) error { return d.SetCommHook(h) }) }
	powerSGD := func(o dist.PowerSGDOptions) func() error { return hook(dist.PowerSGD(o)) }
	trial := func(o dist.BucketTrialOptions) func() error {
		return with(func(d *dist.DDP) error { return d.TryBucketSizes(o) })
	}
	int64s := gotorch.Some(gotorch.Int64)
	check(t, []wrong{
		{"BucketCapMB", ddp(dist.DDPOptions{BucketCapMB: gotorch.Some(-1.0)})},
		{"FirstBucketMB", ddp(dist.DDPOptions{FirstBucketMB: -1})},
		{"FindUnusedParameters", ddp(dist.DDPOptions{SkipAllReduceUnusedParams: true})},
		{"MixedPrecision", ddp(dist.DDPOptions{MixedPrecision: dist.MixedPrecision{Param: int64s}})},
		{"MixedPrecision", ddp(dist.DDPOptions{MixedPrecision: dist.MixedPrecision{Reduce: int64s}})},
		{"MixedPrecision", ddp(dist.DDPOptions{MixedPrecision: dist.MixedPrecision{Buffer: int64s}})},
		{"MixedPrecision.Param", ddp(dist.DDPOptions{FindUnusedParameters: true,
			MixedPrecision: dist.MixedPrecision{Param: gotorch.Some(gotorch.BFloat16)}})},
		{"MixedPrecision.Reduce", func() error {
			d, err := dist.NewDDP(group, nn.NewLinear(2, 2), dist.DDPOptions{
				MixedPrecision: dist.MixedPrecision{Reduce: gotorch.Some(gotorch.BFloat16)}})
			if err != nil {
				return err
			}
			defer d.Close()
			return d.SetCommHook(dist.FP16Compress())
		}},
		{"MatrixApproximationRank", powerSGD(dist.PowerSGDOptions{MatrixApproximationRank: -1})},
		{"StartIter", powerSGD(dist.PowerSGDOptions{StartIter: gotorch.Some(1)})},
		{"MinCompressionRate", powerSGD(dist.PowerSGDOptions{MinCompressionRate: gotorch.Some(-1.0)})},
		{"size", hook(dist.QuantizePerChannel(0))},
		{"dtype", hook(dist.AllReduce().Compressed(gotorch.Int64))},
		{"size", trial(dist.BucketTrialOptions{SizesMB: []float64{-1}})},
		{"terations", trial(dist.BucketTrialOptions{Iterations: -1})},
		{"ounds", trial(dist.BucketTrialOptions{Rounds: -1})},
		{"BucketCapMB", with(func(d *dist.DDP) error {
			if err := d.SetCommHook(dist.FP16Compress()); err != nil {
				return err
			}
			return d.TryBucketSizes()
		})},
		{"period", func() error { return made(dist.NewPeriodicModelAverager(group, 0, 0)) }},
		{"warmup", func() error { return made(dist.NewPeriodicModelAverager(group, 1, -1)) }},
		{"MostEvents", func() error { return group.StartTrace(ctx, dist.TraceOptions{MostEvents: -1}) }},
	})
}

func TestErrorsOfRPCNameGosOptions(t *testing.T) {
	ctx := t.Context()
	init := func(o rpc.Options) func() error {
		o.Name, o.Rank, o.WorldSize = "alone", gotorch.Some(0), 1
		return func() error { return rpc.Init(ctx, o) }
	}
	table := map[string]rpc.EmbeddingTable{"words": {Rows: 10, Width: 2}}
	client := func(o rpc.ParameterClientOptions) func() error {
		if o.Servers == nil {
			o.Servers = []string{"server"}
		}
		if o.Tables == nil {
			o.Tables = table
		}
		return func() error { return made(rpc.NewParameterClient(ctx, o)) }
	}
	tables := func(one rpc.EmbeddingTable) func() error {
		return client(rpc.ParameterClientOptions{Tables: map[string]rpc.EmbeddingTable{"words": one}})
	}
	check(t, []wrong{
		{"Options.Timeout is ", init(rpc.Options{Timeout: -time.Second})},
		{"Options.CallTimeout is ", init(rpc.Options{CallTimeout: -time.Second})},
		{"Options.NumWorkerThreads is -1", init(rpc.Options{NumWorkerThreads: -1})},
		{"Options.MostWorkerThreads is 3; it must be NumWorkerThreads (16)", init(rpc.Options{MostWorkerThreads: 3})},
		{"Options.MostOutstanding is -1", init(rpc.Options{MostOutstanding: -1})},
		{"ptions.Servers is empty", client(rpc.ParameterClientOptions{Servers: []string{}})},
		{"ParameterClientOptions.Servers names one twice", client(rpc.ParameterClientOptions{Servers: []string{"a", "a"}})},
		{"ParameterClientOptions.Staleness is of", client(rpc.ParameterClientOptions{Staleness: 2})},
		{"Trainers -1", client(rpc.ParameterClientOptions{Trainers: -1})},
		{"StandardDeviation", tables(rpc.EmbeddingTable{Rows: 10, Width: 2, StandardDeviation: gotorch.Some(-1.0)})},
		{"MostBytes is -1", func() error { return made(rpc.NewParameterServer(rpc.ParameterServerOptions{MostBytes: -1})) }},
	})
}

// endless gives the same sample for ever.
type endless struct{}

func (endless) Open(uint64, int) (data.Stream, error) { return endless{}, nil }
func (endless) Next() ([]*gotorch.Tensor, error) {
	return []*gotorch.Tensor{gotorch.Ones([]int{1})}, nil
}
func (endless) Close() error { return nil }

func TestErrorsOfDataNameGosOptions(t *testing.T) {
	set, err := data.FromTensors([]*gotorch.Tensor{gotorch.Zeros([]int{10, 1})}, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	stream, err := data.FromIterable(endless{}, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	loader := func(o data.Options) func() error {
		if o.BatchSize == 0 {
			o.BatchSize = 2
		}
		return func() error { return made(data.NewLoader(set, o)) }
	}
	dynamic := func(o data.DynamicOptions) func() error {
		if o.BatchSize == 0 {
			o.BatchSize = 4
		}
		if o.MicroBatch == 0 {
			o.MicroBatch = 2
		}
		return func() error { return made(data.NewDynamicLoader(set, store, o)) }
	}
	step := func(one data.Transform) func() error { return loader(data.Options{Transforms: []data.Transform{one}}) }
	x := []string{"x"}
	folder := t.TempDir()
	path := filepath.Join(folder, "records")
	writer := func(o recordio.WriterOptions) func() error {
		return func() error { return made(recordio.Create(filepath.Join(folder, "wrong"), o)) }
	}
	if w, err := recordio.Create(path); err != nil {
		t.Fatal(err)
	} else if _, err := w.Write([]byte{1}); err != nil {
		t.Fatal(err)
	} else if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files := func(o data.FileOptions) func() error {
		return func() error { return made(data.Records([]string{path}, []data.Field{{Name: "x"}}, o)) }
	}
	remote := func(o data.FileOptions) func() error {
		return func() error {
			return made(data.Records([]string{"http://127.0.0.1:1/x"}, []data.Field{{Name: "x"}}, o))
		}
	}
	check(t, []wrong{
		{"BatchSize", loader(data.Options{BatchSize: -1})},
		{"rank", loader(data.Options{Rank: 5})},
		{"WorldSize", loader(data.Options{WorldSize: -1})},
		{"Tail", loader(data.Options{Tail: 9})},
		{"threads", loader(data.Options{Threads: gotorch.Some(-1)})},
		{"prefetch", loader(data.Options{Prefetch: gotorch.Some(-1)})},
		{"PrefetchBytes", loader(data.Options{PrefetchBytes: -1})},
		{"ShuffleBlock", loader(data.Options{ShuffleBlock: -1})},
		{"window", loader(data.Options{ShuffleBlock: 2, ShuffleWindow: -1})},
		{"OnIOError", loader(data.Options{OnIOError: 7})},
		{"CUDA", loader(data.Options{PinMemory: true})},
		{"ShuffleBlock", func() error {
			return made(data.NewLoader(stream, data.Options{BatchSize: 2, Shuffle: gotorch.Some(true)}))
		}},
		{"OneHot", step(data.OneHot{Fields: x, Classes: -1})},
		{"normalize", step(data.Normalize{Fields: x, Mean: []float64{1}, Std: []float64{0}})},
		{"RandomCrop", step(data.RandomCrop{Fields: x, Height: -1, Width: 2})},
		{"CenterCrop", step(data.CenterCrop{Fields: x, Height: 2, Width: -1})},
		{"RandomHorizontalFlip", step(data.RandomHorizontalFlip{Fields: x, Probability: gotorch.Some(2.0)})},
		{"height", step(data.Resize{Fields: x, Height: -1, Width: 2})},
		{"scale", step(data.RandomResizedCrop{Fields: x, Height: 2, Width: 2, Scale: gotorch.Some([2]float64{5, 2})})},
		{"ColorJitter", step(data.ColorJitter{Fields: x, Hue: gotorch.Some([2]float64{-3, 3})})},
		{"BatchSize", dynamic(data.DynamicOptions{BatchSize: -1})},
		{"MicroBatch", dynamic(data.DynamicOptions{MicroBatch: -1})},
		{"Tail", dynamic(data.DynamicOptions{Tail: 9})},
		{"threads", dynamic(data.DynamicOptions{Threads: -1})},
		{"prefetch", dynamic(data.DynamicOptions{Prefetch: gotorch.Some(-1)})},
		{"MostFailures", dynamic(data.DynamicOptions{MostFailures: -1})},
		{"MostQuarantined", dynamic(data.DynamicOptions{MostQuarantined: gotorch.Some(-1)})},
		{"LostAfter", dynamic(data.DynamicOptions{LostAfter: -time.Second})},
		{"imeout", dynamic(data.DynamicOptions{Timeout: -time.Second})},
		{"generation", dynamic(data.DynamicOptions{Generation: -1})},
		{"WorldSize", dynamic(data.DynamicOptions{WorldSize: -1})},
		{"smoke", files(data.FileOptions{Format: "smoke"})},
		{"skip", files(data.FileOptions{Skip: -1})},
		{"CacheBytes", remote(data.FileOptions{CacheBytes: gotorch.Some(-7)})},
		{"attempts", remote(data.FileOptions{Attempts: -1})},
		{"ConnectTimeout", remote(data.FileOptions{ConnectTimeout: -time.Second})},
		{"StallTimeout", remote(data.FileOptions{StallTimeout: -time.Second})},
		{"RequestTimeout", remote(data.FileOptions{RequestTimeout: -time.Second})},
		{"LeastSpeed", remote(data.FileOptions{LeastSpeed: -1})},
		{"ChunkBytes", writer(recordio.WriterOptions{ChunkBytes: 1 << 40})},
		{"ChunkBytes is -1;", writer(recordio.WriterOptions{ChunkBytes: -1})},
		{"version", writer(recordio.WriterOptions{Version: 3})},
		{"level", writer(recordio.WriterOptions{Version: 2, Compressor: recordio.Zstd, Level: 99})},
		{"lignment", writer(recordio.WriterOptions{Version: 2, Alignment: 3})},
		{"ompressor", writer(recordio.WriterOptions{Compressor: 9})},
	})
}
