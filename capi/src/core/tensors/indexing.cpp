// x[...] and x[...] = value, by LibTorch's at::indexing, which follows Python's indexing step by step.
#include <ATen/Parallel.h>
#include <ATen/TensorIndexing.h>

#include <algorithm>
#include <vector>

#include "core/handles/handles.h"
#include "core/operators/intra_op.h"
#include "core/operators/on_cpu.h"
#include "core/operators/values.h"

using namespace tandem::capi;
using at::indexing::TensorIndex;

namespace {

// A slice's ends are cut to the tensor's anyway, and at::indexing takes no number beyond its own limits.
c10::SymInt end_of_slice(std::int64_t place) {
  return std::clamp(place, at::indexing::INDEX_MIN, at::indexing::INDEX_MAX);
}

TensorIndex to_index(const tdm_index& index, std::size_t position) {
  const std::string what = "argument 'indices'[" + std::to_string(position) + "]";
  switch (index.kind) {
    case TDM_INDEX_NONE:
      return at::indexing::None;
    case TDM_INDEX_ELLIPSIS:
      return at::indexing::Ellipsis;
    case TDM_INDEX_INTEGER:
      return index.start;
    case TDM_INDEX_BOOLEAN:
      return index.boolean != 0;
    case TDM_INDEX_SLICE:
      if (index.step <= 0) {
        invalid(what + " is a slice whose step is " + std::to_string(index.step) +
                "; LibTorch has steps of at least 1: turn the tensor around with aten::flip");
      }
      return at::indexing::Slice(end_of_slice(index.start), end_of_slice(index.stop), index.step);
    case TDM_INDEX_TENSOR:
      return unwrap(index.tensor, ("indices[" + std::to_string(position) + "].tensor").c_str());
    default:
      invalid(what + " has the kind " + std::to_string(index.kind) + ", which is no TDM_INDEX");
  }
}

// Python's x[()] is x[...].
std::vector<TensorIndex> to_indices(const tdm_index* indices, std::size_t count) {
  check_count(count, "indices");
  if (count == 0) return {at::indexing::Ellipsis};
  not_null(indices, "indices");
  std::vector<TensorIndex> converted;
  converted.reserve(count);
  for (std::size_t i = 0; i < count; ++i) converted.push_back(to_index(indices[i], i));
  return converted;
}

// Views cost no time, whatever they are of; elements that move do.
template <typename Work>
void run_indexing(const at::Tensor& tensor, const std::vector<TensorIndex>& indices, const at::IValue& value,
                  bool moves, Work&& work) {
  const auto all_on_cpu = [&] {
    return is_on_cpu(tensor) && is_on_cpu(value) &&
           std::all_of(indices.begin(), indices.end(),
                       [](const TensorIndex& index) { return !index.is_tensor() || is_on_cpu(index.tensor()); });
  };
  if (moves && tensor.numel() >= at::internal::GRAIN_SIZE) {
    run_large(all_on_cpu, work);
  } else {
    work();
  }
}

bool moves_elements(const std::vector<TensorIndex>& indices) {
  return std::any_of(indices.begin(), indices.end(),
                     [](const TensorIndex& index) { return index.is_tensor() || index.is_boolean(); });
}

}  // namespace

tdm_error* tdm_tensor_index(const tdm_tensor* tensor, const tdm_index* indices, std::size_t count, tdm_tensor** out) {
  return guard("tdm_tensor_index", [&] {
    not_null(out, "out");
    const at::Tensor& self = unwrap(tensor, "tensor");
    const std::vector<TensorIndex> converted = to_indices(indices, count);
    at::Tensor result;
    run_indexing(self, converted, {}, moves_elements(converted), [&] { result = self.index(converted); });
    *out = make_tensor_handle(std::move(result));
  });
}

tdm_error* tdm_tensor_index_put(tdm_tensor* tensor, const tdm_index* indices, std::size_t count,
                                const tdm_value* value) {
  return guard("tdm_tensor_index_put", [&] {
    at::Tensor self = unwrap(tensor, "tensor");
    const std::vector<TensorIndex> converted = to_indices(indices, count);
    const at::IValue assigned = to_ivalue(*not_null(value, "value"), "value");
    if (!assigned.isTensor() && !assigned.isScalar()) {
      invalid("argument 'value' must be a tensor or a number, not " + describe(*value));
    }
    run_indexing(self, converted, assigned, true, [&] {
      if (assigned.isTensor()) {
        self.index_put_(converted, assigned.toTensor());
      } else {
        self.index_put_(converted, assigned.toScalar());
      }
    });
  });
}
