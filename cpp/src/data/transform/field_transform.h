// A step that changes each of its fields by itself.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "base/invalid.h"
#include "tandem/batch_transform.h"
#include "tandem/error.h"

namespace tandem::transform {

class FieldTransform : public BatchTransform {
 public:
  FieldTransform(std::string step, Fields fields);
  void apply(Batch& batch) final;

 protected:
  // The field's new tensor. What it throws (also LibTorch's errors) comes out with step and field named.
  virtual at::Tensor changed(const at::Tensor& tensor, const Batch& batch) const = 0;

 private:
  std::string step_;
  Fields fields_;
};

// Throws unless the tensor is [N, C, H, W], uint8 or floating.
void check_images(const at::Tensor& images);
// The same, and that each image has its randomness.
void check_images(const at::Tensor& images, const Batch& batch);

void check_size(const char* what, std::int64_t size);

// Images [N, C, H, W] in another size. On devices whose interpolation lacks uint8 it is computed in float32 and
// rounded.
at::Tensor interpolated(const at::Tensor& images, const ResizeOptions& options);
void check_resize(const ResizeOptions& options);

}  // namespace tandem::transform
