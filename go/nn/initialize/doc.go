// Package initialize has the starting values of parameters that torch.nn.init has. Functions overwrite the tensor, whether it
// requires grad or not, without a record for autograd, and return it. Seeded alike, random numbers are Python's. They panic
// with *gotorch.Error on shapes and options that do not fit.
package initialize
