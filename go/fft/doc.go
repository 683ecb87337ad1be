// Package fft has discrete Fourier transforms. Source: torch.fft. Its functions panic with *gotorch.Error on shapes
// and options that do not fit.
package fft
