package models

import (
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn"
	F "tandem.example/gotorch/compat/nn/functional"
)

// conv is a convolution without bias, padded to keep the size but for the stride.
func conv(in, out, kernel, stride, dilation, groups int64) *nn.Conv2dModule {
	return nn.Conv2d(in, out, kernel, stride, dilation*(kernel/2), dilation, groups, false, "zeros")
}

func norm(channels int64) *nn.BatchNorm2dModule {
	return nn.BatchNorm2d(channels, 1e-5, 0.1, true, true)
}

// residual adds what comes in, perhaps downsampled, and rectifies.
func residual(computed, in torch.Tensor, downsample *nn.SequentialModule) torch.Tensor {
	if downsample != nil {
		in = downsample.Forward(in).(torch.Tensor)
	}
	computed.AddI(in, 1)
	return F.Relu(computed, true)
}

// BasicBlockModule is two convolutions of 3 by 3 around which a residual goes. Source: He et al., 2015.
type BasicBlockModule struct {
	nn.Module
	C1, C2     *nn.Conv2dModule
	BN1, BN2   *nn.BatchNorm2dModule
	Downsample *nn.SequentialModule
}

// BasicBlock makes a BasicBlockModule of planes channels, without groups, width or dilation, whatever those are; downsample
// may be nil.
func BasicBlock(inplanes, planes, stride int64, downsample *nn.SequentialModule,
	groups, baseWidth, dilation int64) *BasicBlockModule {
	b := &BasicBlockModule{C1: conv(inplanes, planes, 3, stride, 1, 1), BN1: norm(planes),
		C2: conv(planes, planes, 3, 1, 1, 1), BN2: norm(planes), Downsample: downsample}
	b.Init(b)
	return b
}

// Forward computes on [batch, inplanes, height, width].
func (b *BasicBlockModule) Forward(x torch.Tensor) torch.Tensor {
	out := F.Relu(b.BN1.Forward(b.C1.Forward(x)), true)
	out = b.BN2.Forward(b.C2.Forward(out))
	return residual(out, x, b.Downsample)
}

// BottleneckModule is a convolution of 3 by 3 between two of 1 by 1, around which a residual goes. Source: He et al., 2015,
// with the stride at the 3 by 3 as torchvision has it.
type BottleneckModule struct {
	nn.Module
	C1, C2, C3    *nn.Conv2dModule
	BN1, BN2, BN3 *nn.BatchNorm2dModule
	Downsample    *nn.SequentialModule
}

// Bottleneck makes a BottleneckModule that gives 4 * planes channels; downsample may be nil.
func Bottleneck(inplanes, planes, stride int64, downsample *nn.SequentialModule,
	groups, baseWidth, dilation int64) *BottleneckModule {
	width := planes * baseWidth / 64 * groups
	out := planes * expansions[bottleneck]
	b := &BottleneckModule{C1: conv(inplanes, width, 1, 1, 1, 1), C2: conv(width, width, 3, stride, dilation, groups),
		C3: conv(width, out, 1, 1, 1, 1), BN1: norm(width), BN2: norm(width), BN3: norm(out), Downsample: downsample}
	b.Init(b)
	return b
}

// Forward computes on [batch, inplanes, height, width].
func (b *BottleneckModule) Forward(x torch.Tensor) torch.Tensor {
	out := F.Relu(b.BN1.Forward(b.C1.Forward(x)), true)
	out = F.Relu(b.BN2.Forward(b.C2.Forward(out)), true)
	out = b.BN3.Forward(b.C3.Forward(out))
	return residual(out, x, b.Downsample)
}
