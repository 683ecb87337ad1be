// Package utils has what torch.nn.utils does to all parameters of a model at once. Functions panic with *gotorch.Error on
// what does not fit.
package utils
