// Package vision has networks for images, by torchvision's names: what their parameters are called, what they compute and
// what they begin with are those of torchvision.models, so that its weights load.
//
//	net := vision.NewResNet18(vision.ResNetOptions{NumClasses: 10})
//	err := nn.Load("resnet18.safetensors", net)
//
// Each is an [nn.Layer] of LibTorch's operators in one call. Constructors panic with *gotorch.Error on options that a
// network does not take.
package vision
