package nn

import (
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn/functional"
)

// Conv2dModule convolves [batch, InChannels, height, width], padded with zeros whatever PaddingMode says.
type Conv2dModule struct {
	Module
	InChannels  int64
	OutChannels int64
	KernelSize  int64
	Stride      int64
	Padding     int64
	Dilation    int64
	Groups      int64
	PaddingMode string
	Weight      torch.Tensor
	Bias        torch.Tensor
}

// Conv2d makes a Conv2dModule with torch.nn.Conv2d's starting values. Its sizes are those of both dimensions.
func Conv2d(inChannels, outChannels, kernelSize, stride, padding, dilation,
	groups int64, bias bool, paddingMode string) *Conv2dModule {
	c := &Conv2dModule{InChannels: inChannels, OutChannels: outChannels, KernelSize: kernelSize, Stride: stride,
		Padding: padding, Dilation: dilation, Groups: groups, PaddingMode: "zeros"}
	c.Weight, c.Bias = weights([]int64{outChannels, inChannels / groups, kernelSize, kernelSize}, outChannels, bias)
	c.Init(c)
	return c
}

// both has a number for each dimension.
func both(n int64) []int64 { return []int64{n, n} }

// Forward convolves x.
func (c *Conv2dModule) Forward(x torch.Tensor) torch.Tensor {
	return functional.Conv2d(x, c.Weight, c.Bias, both(c.Stride), both(c.Padding), both(c.Dilation), c.Groups)
}

// ConvTranspose2dModule is the transposed convolution, padded with zeros whatever PaddingMode says.
type ConvTranspose2dModule struct {
	Module
	InChannels  int64
	OutChannels int64
	KernelSize  int64
	Stride      int64
	Padding     int64
	OutPadding  int64
	Groups      int64
	Dilation    int64
	PaddingMode string
	Weight      torch.Tensor
	Bias        torch.Tensor
}

// ConvTranspose2d makes a ConvTranspose2dModule with torch.nn.ConvTranspose2d's starting values.
func ConvTranspose2d(inChannels, outChannels, kernelSize, stride, padding,
	outPadding, groups int64, bias bool, dilation int64, paddingMode string) *ConvTranspose2dModule {
	c := &ConvTranspose2dModule{InChannels: inChannels, OutChannels: outChannels, KernelSize: kernelSize, Stride: stride,
		Padding: padding, OutPadding: outPadding, Groups: groups, Dilation: dilation, PaddingMode: "zeros"}
	c.Weight, c.Bias = weights([]int64{inChannels, outChannels / groups, kernelSize, kernelSize}, outChannels, bias)
	c.Init(c)
	return c
}

// Forward computes on [batch, InChannels, height, width].
func (c *ConvTranspose2dModule) Forward(x torch.Tensor) torch.Tensor {
	return functional.ConvTranspose2d(x, c.Weight, c.Bias, both(c.Stride), both(c.Padding), both(c.OutPadding), c.Groups,
		both(c.Dilation))
}
