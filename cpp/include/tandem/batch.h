// A batch of samples, and what changes whole batches.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/export.h"

namespace tandem {

// A tensor per field; dimension 0 of each counts samples, unless sequences were packed (collate.h).
struct Batch {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
  // For sample i a hash of (seed, epoch, sample), see sample_random.h: all that its augmentation may depend on.
  std::vector<std::uint64_t> sample_randomness;
};

// The tensor of the field `name`. Throws Error(kNotFound) that lists the fields there are.
TANDEM_API at::Tensor& field_of(Batch& batch, const std::string& name);

// One step on whole batches: a pure function of the batch, so that a sample becomes the same whatever batch it stands
// in and whichever thread does it. apply() replaces tensors and does not write into those that were there, which others
// may share. Thread-safe. Errors: tandem::Error naming step and field.
class TANDEM_API BatchTransform {
 public:
  virtual ~BatchTransform() = default;
  virtual void apply(Batch& batch) = 0;
  // The names of a batch's tensors afterwards, of one that had `names`; apply() keeps to it.
  virtual std::vector<std::string> names_after(std::vector<std::string> names) const { return names; }
};

}  // namespace tandem
