// Samples stacked into the tensors of a batch, and errors that name the sample.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tandem/dataset.h"

namespace tandem::loader {

// Of a sample: "train.recordio, chunk 3, record 17". Asked for only where something is wrong with it.
using Name = std::function<std::string()>;

// Throws Error(kInvalidArgument) for what is no dense tensor on the CPU.
void require_cpu(const at::Tensor& tensor, const Name& of);

// Throws the exception in flight as an Error that begins with "cannot load NAME: ", with that exception nested in it,
// and as it is where it begins so already. What is no Error is one of kOutOfMemory where there is no memory, or else of
// kCallback: a class of the program's threw it.
[[noreturn]] void rethrow_named(const std::string& name);

// What `load()` gives or, named, throws.
template <typename Load>
auto naming(const Name& name, Load&& load) {
  try {
    return load();
  } catch (...) {
    rethrow_named(name());
  }
}

// Rows of samples of one shape and dtype each.
class Rows {
 public:
  // All zeros, as many tensors as `like` has, and of their shapes; `of` is the name of that sample.
  Rows(const std::vector<at::Tensor>& like, std::string of, std::int64_t rows);
  // Throws Error(kInvalidArgument) naming both samples where they are not alike.
  void set(std::int64_t row, const std::vector<at::Tensor>& sample, const Name& of);
  std::vector<at::Tensor> take() { return std::move(tensors_); }

 private:
  std::string first_;
  std::vector<at::Tensor> tensors_;
};

// What `load(samples[i], i)` gives, as Dataset::get_batch() has it. Without samples the shapes are those of load(0, 0).
std::vector<at::Tensor> stack(
    const Dataset& of, std::span<const std::int64_t> samples, std::int64_t rows,
    const std::function<std::vector<at::Tensor>(std::int64_t sample, std::size_t place)>& load);

}  // namespace tandem::loader
