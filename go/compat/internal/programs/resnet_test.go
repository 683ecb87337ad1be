package programs

import (
	"reflect"
	"testing"

	core "tandem.example/gotorch"
	torch "tandem.example/gotorch/compat"
	F "tandem.example/gotorch/compat/nn/functional"
	"tandem.example/gotorch/compat/nn/initializer"
	"tandem.example/gotorch/compat/vision/models"
)

// accuracy is the share in percent of samples whose class is among the k likeliest.
func accuracy(output, target torch.Tensor, k int64) float32 {
	output, target = output.Detach(), target.Detach()
	_, pred := torch.TopK(output, k, 1, true, true)
	pred = pred.Transpose(0, 1)
	correct := pred.Eq(target.View(1, -1).ExpandAs(pred))
	var first []int64
	for i := range k {
		first = append(first, i)
	}
	hits := correct.IndexSelect(0, torch.NewTensor(first)).CastTo(torch.Float)
	return torch.Sum(hits).Item().(float32) * 100 / float32(target.Shape()[0])
}

func TestResnet(t *testing.T) {
	torch.SetNumThreads(1)
	initializer.ManualSeed(3)
	model := models.Resnet(reflect.TypeOf((*models.BasicBlockModule)(nil)).Elem(), []int64{1, 1, 1, 1}, 3, false, 1, 64)
	model.To(torch.NewDevice("cpu"))
	opt := torch.SGD(0.05, 0.9, 0, 1e-4, false)
	opt.AddParameters(model.Parameters())

	// The class is the channel that is bright.
	images, target := torch.RandN([]int64{6, 3, 32, 32}, false), torch.NewTensor([]int64{0, 1, 2, 0, 1, 2})
	for i := range int64(6) {
		one := core.Slice(int(i), int(i)+1)
		images.Unwrap().SetIndex(images.Unwrap().Index(one, core.At(int(i%3))).AddScalar(3), one, core.At(int(i%3)))
	}
	step := func() float32 {
		torch.GC()
		opt.ZeroGrad()
		loss := F.CrossEntropy(model.Forward(images), target, torch.Tensor{}, -100, "mean")
		loss.Backward()
		opt.Step()
		return loss.Item().(float32)
	}
	first, last := step(), float32(0)
	opt.SetLR(0.01)
	for range 6 {
		last = step()
	}
	torch.FinishGC()
	if last > first/3 {
		t.Errorf("the loss went from %v to %v", first, last)
	}
	// Few steps leave the running statistics of batch normalization behind.
	if output := model.Forward(images); accuracy(output, target, 1) < 99 || accuracy(output, target, 3) != 100 {
		t.Error(output)
	}
	model.Train(false)
	if y := model.Forward(images); model.IsTraining() || !torch.Equal(y, model.Forward(images)) {
		t.Error("evaluation is not repeatable:", y)
	}
}
