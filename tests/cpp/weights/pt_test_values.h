// What reference.py puts into the files of Python.
#pragma once

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "tandem/pt_file.h"

namespace tandem::testing {

inline std::string python_file(const std::string& name) {
  return PT_FILES "/" + name;
}

// 0, 1, 2, …
inline at::Tensor counted(std::vector<std::int64_t> sizes, at::ScalarType type = at::kFloat) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return at::arange(count, at::kDouble).to(type).reshape(sizes);
}

template <typename T>
const T& as(const PtValue& value) {
  const T* const found = value.get_if<T>();
  if (!found) throw std::runtime_error("a value of another kind");
  return *found;
}

inline const at::Tensor& tensor_of(const PtValue& value) {
  return as<PtTensor>(value).tensor;
}

// Also of dtypes that have no equal().
inline void expect_bytes(const at::Tensor& found, const at::Tensor& expected) {
  ASSERT_EQ(found.scalar_type(), expected.scalar_type());
  ASSERT_EQ(found.sizes(), expected.sizes());
  const at::Tensor a = found.detach().resolve_conj().contiguous(), b = expected.detach().resolve_conj().contiguous();
  // What is empty has no address, which memcmp must not be given.
  EXPECT_TRUE(a.nbytes() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0);
}

inline bool share_storage(const at::Tensor& a, const at::Tensor& b) {
  return a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl();
}

}  // namespace tandem::testing
