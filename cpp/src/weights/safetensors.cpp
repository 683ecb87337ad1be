#include "tandem/safetensors.h"

#include <utility>

#include "base/atomic_file.h"
#include "weights/safetensors_file.h"

namespace tandem {

void save_safetensors(const std::string& path, const Safetensors& content) {
  const auto layout = safetensors::lay_out(content.tensors, content.metadata);
  AtomicFile file(path);
  file.append(layout.start.data(), layout.start.size());
  for (const std::size_t i : layout.order) {
    const at::Tensor plain = safetensors::plain(content.tensors[i].second);
    if (plain.numel() != 0) file.append(plain.const_data_ptr(), plain.nbytes());
  }
  file.commit();
}

// Into memory of the tensors' own, not a map of the file: where the file is cut off under a map, whoever uses a tensor
// ends the process.
Safetensors load_safetensors(const std::string& path) {
  const safetensors::OpenFile file(path);
  Safetensors content;
  content.metadata = file.header().metadata;
  for (const auto& entry : file.header().entries) {
    at::Tensor tensor = at::empty(entry.sizes, at::TensorOptions(safetensors::scalar_type(entry)));
    if (tensor.numel() != 0) file.read(entry, tensor.mutable_data_ptr());
    content.tensors.emplace_back(entry.name, std::move(tensor));
  }
  return content;
}

}  // namespace tandem
