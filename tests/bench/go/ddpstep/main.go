// Our side of `ddp-step`: trains a model on one fixed batch a rank under DistributedDataParallel. The peer is
// peers/ddp_step.py.
//
//	tandem run -n 2 -- bench-ddp-step --model mlp --data FOLDER --exchange shm|gloo|none --warmup 5 --steps 20
package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/bench/models"
	"tandem.example/gotorch/bench/program"
	"tandem.example/gotorch/bench/rankreport"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

var (
	modelName = flag.String("model", "", "mlp, cnn, lstm or resnet18")
	data      = flag.String("data", "", "folder that prepare.py wrote")
	exchange  = flag.String("exchange", "gloo", "shm, gloo or nccl, or none: each rank trains alone")
	device    = flag.String("device", "cpu", "cpu, or cuda: the first GPU")
	warmup    = flag.Int("warmup", 5, "steps before the clock starts")
	steps     = flag.Int("steps", 20, "steps that are timed")
	bucketMB  = flag.Float64("bucket-cap-mb", 25, "MiB of gradients that travel together; 0: each alone")
	measured  = flag.Bool("statistics", false, "report DistributedDataParallel's times, of every step")
	save      = flag.String("save", "", "rank 0 writes parameters and buffers at the end")
	separate  = flag.Int("separate", 0, "every so many steps exchange apart, and statistics are reported")
	bare      = flag.Bool("bare", false, "the module without DistributedDataParallel: each rank trains alone")
	shared    = flag.Bool("shared", false, "with -bare, of tandem run --shared-parameters: all ranks train the same parameters, without locks")
	lockstep  = flag.Bool("lockstep", false, "with -bare: ranks wait for each other after each backward, and give nothing")
	exported  = flag.String("exported", "", "archive that export_model.py wrote, in place of the network in Go")
	used      = flag.Bool("usage", false, "report what each thread used in a step")
	advise    = flag.Bool("advise", false, "find a bucket size before the clock starts")
)

func main() { program.RanksOn(exchange, device, run) }

func run(ctx context.Context, group *dist.ProcessGroup) error {
	model, err := load()
	if err != nil {
		return err
	}
	batch, _, err := gotorch.Open(filepath.Join(*data, fmt.Sprintf("rank-%d.safetensors", dist.Rank())))
	if err != nil {
		return err
	}
	if *device == "cuda" {
		nn.To(model, gotorch.CUDA(0))
		for name, tensor := range batch {
			batch[name] = tensor.ToDevice(gotorch.CUDA(0))
		}
	}
	options := dist.DDPOptions{GradientAsBucketView: true}
	if *bucketMB != 25 {
		options.BucketCapMB = gotorch.Some(*bucketMB)
	}
	var ddp *dist.DDP
	forward := model.Forward
	if *shared {
		if _, err := nn.ShareParameters(model); err != nil {
			return err
		}
	}
	if !*bare {
		if ddp, err = dist.NewDDP(group, model, options); err != nil {
			return err
		}
		defer ddp.Close()
		forward = ddp.Forward
	}
	optimizer := optim.SGD(nn.Parameters(model), 0.01, optim.SGDOptions{Momentum: 0.9})

	minimize := optimizer.Minimize
	if *lockstep {
		minimize = func(loss *gotorch.Tensor) error {
			optimizer.ZeroGrad()
			loss.Backward()
			if err := group.Barrier(ctx); err != nil {
				return err
			}
			return optimizer.Step()
		}
	}
	var losses []float64
	step := func() (err error) {
		gotorch.Scope(func() {
			loss := F.CrossEntropy(forward(batch["inputs"]), batch["targets"])
			if err = minimize(loss); err == nil {
				losses = append(losses, loss.Item())
			}
		})
		return err
	}
	for range *warmup {
		if err := step(); err != nil {
			return err
		}
	}
	if *advise {
		if err := advised(ddp, step); err != nil {
			return err
		}
	}
	if *separate > 0 {
		if err := ddp.SetSeparateExchanges(*separate); err != nil {
			return err
		}
	}
	if *measured {
		if err := ddp.SetStatisticsSampleRate(1); err != nil {
			return err
		}
	}
	before, err := usageByThread()
	if err != nil {
		return err
	}
	each := make([]float64, *steps)
	start := time.Now()
	for i := range *steps {
		began := time.Now()
		if err := step(); err != nil {
			return err
		}
		each[i] = milliseconds(time.Since(began))
	}
	elapsed := time.Since(start)
	after, err := usageByThread()
	if err != nil {
		return err
	}

	resident, err := rankreport.ResidentKB()
	if err != nil {
		return err
	}
	report := map[string]any{"step_ms": milliseconds(elapsed) / float64(max(*steps, 1)), "steps_ms": each,
		"losses": losses, "rss_kb": resident}
	if *used {
		report["threads"] = usageAStep(before, after, *steps)
	}
	if *advise {
		advice, err := ddp.BucketAdvice()
		if err != nil {
			return err
		}
		report["bucket_cap_mb"] = advice.BucketCapMB
	}
	if *separate > 0 {
		statistics, err := ddp.Statistics()
		if err != nil {
			return err
		}
		report["told_step_ms"] = milliseconds(statistics.Step)
		report["told_without_exchange_ms"] = milliseconds(statistics.StepWithoutExchange)
		report["told_exposed_ms"] = milliseconds(statistics.ExposedCommunication)
		report["alone_ms"] = milliseconds(statistics.CommunicationAlone)
		compute := func() error {
			gotorch.Scope(func() { F.CrossEntropy(ddp.Forward(batch["inputs"]), batch["targets"]).Backward() })
			return nil
		}
		if report["reduced_ms"], err = reduced(ctx, ddp, group, model, statistics, compute); err != nil {
			return err
		}
	}
	if *measured {
		statistics, err := ddp.Statistics()
		if err != nil {
			return err
		}
		report["forward_ms"] = milliseconds(statistics.ForwardCompute)
		report["backward_ms"] = milliseconds(statistics.BackwardCompute)
		report["communication_ms"] = milliseconds(statistics.BackwardCommunication)
		report["exposed_ms"] = milliseconds(statistics.BackwardCommunication - statistics.Overlap)
	}
	if err := rankreport.Write(group.Rank(), report); err != nil {
		return err
	}
	if *save != "" && group.Rank() == 0 {
		return nn.Save(*save, model)
	}
	return nil
}

func load() (nn.Layer, error) {
	if *exported != "" {
		return export.Load(*exported)
	}
	return models.Load(*modelName, *data)
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
