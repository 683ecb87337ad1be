#include "tandem/batch.h"

#include "tandem/error.h"

namespace tandem {

at::Tensor& field_of(Batch& batch, const std::string& name) {
  for (std::size_t i = 0; i < batch.names.size() && i < batch.tensors.size(); ++i) {
    if (batch.names[i] == name) return batch.tensors[i];
  }
  std::string names;
  for (const std::string& one : batch.names) names += (names.empty() ? "'" : ", '") + one + "'";
  throw Error(ErrorCode::kNotFound, "the batch has no field '" + name + "', but " + (names.empty() ? "none" : names));
}

}  // namespace tandem
