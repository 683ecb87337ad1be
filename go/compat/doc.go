// Package gotorch, at the import path compat, has the signatures of github.com/wangkuiyi/gotorch, so that programs written
// for it build and run on Tandem after their import paths alone have changed. The packages below it are those of that
// module: nn, nn/functional, nn/initializer, variadic, tool/tgz, vision, vision/models, vision/transforms and
// vision/imageloader.
//
// What fails panics with a string, tensors print as LibTorch prints them in C++, and parameters have the names of fields:
// "MLPModule.FC1.Weight". docs/from-gotorch.md lists what differs, first of all that images are of package image, not of
// OpenCV.
//
// [Wrap] and [Tensor.Unwrap] lead to the tensors of tandem.example/gotorch and back, of which these are: a program can be
// moved a function at a time. New programs are better off with that package from the start.
package gotorch
