package vision_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/vision"
)

// Each constructor with sizes that are quickly made, and a name that torchvision gives to one of its parameters.
func TestConstructors(t *testing.T) {
	resnet := vision.ResNetOptions{Width: 4, NumClasses: 3}
	vgg := vision.VGGOptions{Width: 2, Hidden: 4, NumClasses: 3}
	convnext := vision.ConvNeXtOptions{Width: 2, NumClasses: 3}
	mobilenet := vision.MobileNetV3Options{WidthMult: gotorch.Some(0.1), NumClasses: 3}
	vit := vision.VisionTransformerOptions{ImageSize: 32, HiddenDim: 4, NumHeads: 2, NumLayers: 1, MlpDim: 4, NumClasses: 3}
	for name, make := range map[string]func() nn.Layer{
		"layer4.1.bn2.running_var":                    func() nn.Layer { return vision.NewResNet18(resnet) },
		"layer3.5.conv1.weight":                       func() nn.Layer { return vision.NewResNet34(resnet) },
		"layer1.0.downsample.1.weight":                func() nn.Layer { return vision.NewResNet50(resnet) },
		"layer3.22.bn3.weight":                        func() nn.Layer { return vision.NewResNet101(resnet) },
		"layer3.35.bn3.weight":                        func() nn.Layer { return vision.NewResNet152(resnet) },
		"features.18.weight":                          func() nn.Layer { return vision.NewVGG11(vgg) },
		"features.26.running_mean":                    func() nn.Layer { return vision.NewVGG11BN(vgg) },
		"features.22.weight":                          func() nn.Layer { return vision.NewVGG13(vgg) },
		"features.32.running_mean":                    func() nn.Layer { return vision.NewVGG13BN(vgg) },
		"features.28.weight":                          func() nn.Layer { return vision.NewVGG16(vgg) },
		"features.41.running_mean":                    func() nn.Layer { return vision.NewVGG16BN(vgg) },
		"features.34.weight":                          func() nn.Layer { return vision.NewVGG19(vgg) },
		"features.50.running_mean":                    func() nn.Layer { return vision.NewVGG19BN(vgg) },
		"features.12.1.running_mean":                  func() nn.Layer { return vision.NewMobileNetV3Small(mobilenet) },
		"features.16.1.running_mean":                  func() nn.Layer { return vision.NewMobileNetV3Large(mobilenet) },
		"features.5.8.layer_scale":                    func() nn.Layer { return vision.NewConvNeXtTiny(convnext) },
		"features.5.26.layer_scale":                   func() nn.Layer { return vision.NewConvNeXtSmall(convnext) },
		"features.5.26.block.0.weight":                func() nn.Layer { return vision.NewConvNeXtBase(convnext) },
		"classifier.0.bias":                           func() nn.Layer { return vision.NewConvNeXtLarge(convnext) },
		"encoder.layers.encoder_layer_0.mlp.3.weight": func() nn.Layer { return vision.NewViTB16(vit) },
	} {
		gotorch.Scope(func() {
			net := make()
			nn.Eval(net)
			if nn.State(net)[name] == nil {
				t.Errorf("%T has no %s", net, name)
			}
			if shape := net.Forward(gotorch.Rand([]int{1, 3, 32, 32})).Shape(); !slices.Equal(shape, []int{1, 3}) {
				t.Errorf("%T gives %v", net, shape)
			}
		})
	}
}

func TestAStepOfTrainingAndAFile(t *testing.T) {
	gotorch.ManualSeed(1)
	options := vision.ResNetOptions{Width: 4, NumClasses: 2}
	net, other := vision.NewResNet18(options), vision.NewResNet18(options)
	x, y := gotorch.Rand([]int{4, 3, 32, 32}), gotorch.From([]int{0, 1, 1, 0})
	sgd := optim.SGD(nn.Parameters(net), 0.05)
	var losses []float64
	for range 6 {
		loss := F.CrossEntropy(net.Forward(x), y)
		losses = append(losses, loss.Item())
		if err := sgd.Minimize(loss); err != nil {
			t.Fatal(err)
		}
	}
	if losses[5] >= losses[0] {
		t.Fatal(losses)
	}
	path := filepath.Join(t.TempDir(), "resnet18.safetensors")
	if err := nn.Save(path, net); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(path, other); err != nil {
		t.Fatal(err)
	}
	nn.Eval(net)
	nn.Eval(other)
	if !net.Forward(x).Equal(other.Forward(x)) || nn.Fingerprint(net) != nn.Fingerprint(other) {
		t.Fatal("the file has another network")
	}
}

func TestStatisticsAreComputedAnew(t *testing.T) {
	net := vision.NewResNet18(vision.ResNetOptions{Width: 2, NumClasses: 2})
	x := gotorch.Rand([]int{4, 3, 32, 32})
	net.Forward(x.MulScalar(9)) // what is to be forgotten
	if err := nn.UpdateBatchNorm(net, func() error { net.Forward(x); return nil }); err != nil {
		t.Fatal(err)
	}
	mean := F.Conv2d(x, nn.State(net)["conv1.weight"], nil, F.Conv2dOptions{Stride: []int{2}, Padding: []int{3}}).
		MeanDim([]int{0, 2, 3})
	if got := nn.State(net)["bn1.running_mean"]; !got.AllClose(mean, gotorch.AllCloseOptions{ATol: gotorch.Some(1e-5)}) {
		t.Fatal(got, mean)
	}
}

func TestErrorsNameFields(t *testing.T) {
	for want, make := range map[string]func(){
		"vision.NewResNet18: WidthPerGroup is for networks": func() { vision.NewResNet18(vision.ResNetOptions{WidthPerGroup: 128}) },
		"vision.NewVGG11: NumClasses must be from 1":        func() { vision.NewVGG11(vision.VGGOptions{NumClasses: -1}) },
	} {
		err := gotorch.Try(make)
		if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}
