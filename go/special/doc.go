// Package special has special functions, element by element. Source: torch.special. Its functions panic with
// *gotorch.Error on shapes and options that do not fit.
package special
