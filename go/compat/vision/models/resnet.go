package models

import (
	"fmt"
	"reflect"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn"
	F "tandem.example/gotorch/compat/nn/functional"
)

var (
	basicBlock = reflect.TypeFor[BasicBlockModule]()
	bottleneck = reflect.TypeFor[BottleneckModule]()
	expansions = map[reflect.Type]int64{basicBlock: 1, bottleneck: 4} // how many channels a block gives for each plane
)

// ResnetModule is a residual network for images of three channels. Source: He et al., 2015.
type ResnetModule struct {
	nn.Module
	C1                                    *nn.Conv2dModule
	BN1                                   *nn.BatchNorm2dModule
	L1, L2, L3, L4                        *nn.SequentialModule
	FC                                    *nn.LinearModule
	Block                                 reflect.Type
	Inplanes, Groups, BaseWidth, Dilation int64
}

// Resnet makes a ResnetModule of BasicBlockModules or BottleneckModules, with a number of them for each of four stages.
// It panics on another block and on another number of stages. zeroInitResidual is not looked at.
func Resnet(block reflect.Type, layers []int64, numClasses int64, zeroInitResidual bool, groups, widthPerGroup int64) *ResnetModule {
	expansion, ok := expansions[block]
	if !ok {
		panic(fmt.Sprintf("Resnet: the block is %v; it must be BasicBlockModule or BottleneckModule", block))
	}
	if len(layers) != 4 {
		panic(fmt.Sprintf("Resnet: %d stages are given; there are four", len(layers)))
	}
	r := &ResnetModule{Block: block, Inplanes: 64, Groups: groups, BaseWidth: widthPerGroup, Dilation: 1}
	r.C1, r.BN1 = conv(3, r.Inplanes, 7, 2, 1, 1), norm(r.Inplanes)
	r.FC = nn.Linear(512*expansion, numClasses, true)
	for i, stage := range []**nn.SequentialModule{&r.L1, &r.L2, &r.L3, &r.L4} {
		*stage = r.stage(int64(64)<<i, layers[i], int64(min(i, 1)+1))
	}
	r.Init(r)
	return r
}

// stage is a row of blocks, of which the first has the stride.
func (r *ResnetModule) stage(planes, blocks, stride int64) *nn.SequentialModule {
	var downsample *nn.SequentialModule
	out := planes * expansions[r.Block]
	if stride != 1 || r.Inplanes != out {
		downsample = nn.Sequential(conv(r.Inplanes, out, 1, stride, 1, 1), norm(out))
	}
	var layers []nn.IModule
	for range blocks {
		layers = append(layers, r.block(planes, stride, downsample))
		r.Inplanes, stride, downsample = out, 1, nil
	}
	return nn.Sequential(layers...)
}

func (r *ResnetModule) block(planes, stride int64, downsample *nn.SequentialModule) nn.IModule {
	if r.Block == basicBlock {
		return BasicBlock(r.Inplanes, planes, stride, downsample, r.Groups, r.BaseWidth, r.Dilation)
	}
	return Bottleneck(r.Inplanes, planes, stride, downsample, r.Groups, r.BaseWidth, r.Dilation)
}

// Forward gives logits, [batch, classes], of [batch, 3, height, width].
func (r *ResnetModule) Forward(x torch.Tensor) torch.Tensor {
	x = F.Relu(r.BN1.Forward(r.C1.Forward(x)), true)
	x = F.MaxPool2d(x, []int64{3, 3}, []int64{2, 2}, []int64{1, 1}, []int64{1, 1}, false)
	for _, stage := range []*nn.SequentialModule{r.L1, r.L2, r.L3, r.L4} {
		x = stage.Forward(x).(torch.Tensor)
	}
	x = F.AdaptiveAvgPool2d(x, []int64{1, 1})
	return r.FC.Forward(torch.Flatten(x, 1, -1))
}

// Resnet18 is the network of 18 layers, for a thousand classes.
func Resnet18() *ResnetModule { return Resnet(basicBlock, []int64{2, 2, 2, 2}, 1000, false, 1, 64) }

// Resnet50 is the network of 50 layers, for a thousand classes.
func Resnet50() *ResnetModule { return Resnet(bottleneck, []int64{3, 4, 6, 3}, 1000, false, 1, 64) }
