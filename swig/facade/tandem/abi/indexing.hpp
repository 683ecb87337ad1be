// x[...] and x[...] = value, as Python writes them.
#pragma once

#include <cstdint>
#include <vector>

#include "tandem/abi/value.hpp"

namespace tandem::abi {

// What stands between the commas of x[...]. Keeps its tensor.
class Index {
 public:
  // One place of a dimension, which goes; negative ones count from its end.
  static Index at(int64_t place) {
    Index index(TDM_INDEX_INTEGER);
    index.raw_.start = place;
    return index;
  }
  // start:stop:step.
  static Index slice(int64_t start = 0, int64_t stop = INT64_MAX, int64_t step = 1) {
    Index index(TDM_INDEX_SLICE);
    index.raw_.start = start;
    index.raw_.stop = stop;
    index.raw_.step = step;
    return index;
  }
  // All dimensions that the others leave.
  static Index ellipsis() { return Index(TDM_INDEX_ELLIPSIS); }
  // A new dimension of size 1.
  static Index new_axis() { return Index(TDM_INDEX_NONE); }
  // A new dimension of size 1 or 0.
  static Index boolean(bool on) {
    Index index(TDM_INDEX_BOOLEAN);
    index.raw_.boolean = on;
    return index;
  }
  // Places, or a mask.
  static Index tensor(const Tensor& tensor) {
    Index index(TDM_INDEX_TENSOR);
    index.tensor_ = tensor;
    return index;
  }

  tdm_index raw() const {
    tdm_index index = raw_;
    index.tensor = tensor_.raw();
    return index;
  }

 private:
  explicit Index(tdm_index_kind kind) { raw_.kind = kind; }

  tdm_index raw_ = TDM_INDEX_INIT;
  Tensor tensor_;
};

inline std::vector<tdm_index> raw(const std::vector<Index>& indices) {
  std::vector<tdm_index> list;
  for (const Index& index : indices) list.push_back(index.raw());
  return list;
}

// x[indices...]: a view where no index is a tensor or a boolean.
inline Tensor get_item(const Tensor& x, const std::vector<Index>& indices) {
  const std::vector<tdm_index> list = raw(indices);
  tdm_tensor* item = nullptr;
  check(tdm_tensor_index(x.raw(), list.data(), list.size(), &item));
  return Tensor(item);
}

// x[indices...] = value: a tensor, which is broadcast, or a number.
template <typename Value>
void set_item(Tensor& x, const std::vector<Index>& indices, const Value& value) {
  const std::vector<tdm_index> list = raw(indices);
  const Arguments assigned = Arguments::of(value);
  check(tdm_tensor_index_put(x.raw(), list.data(), list.size(), assigned.data()));
}

}  // namespace tandem::abi
