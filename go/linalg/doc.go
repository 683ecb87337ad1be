// Package linalg has linear algebra: decompositions, solvers, norms. Source: torch.linalg. Its functions panic with
// *gotorch.Error on shapes and options that do not fit.
package linalg
