#include "tandem/safetensors.h"

#include <cstring>
#include <utility>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "tandem/error.h"
#include "weights/mapped_storage.h"
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

SafetensorsFile::SafetensorsFile(const std::string& path)
    : file_(std::make_shared<const MappedFile>(path, MappedFile::Access::kCopyOnWrite)) {
  const auto bytes = file_->bytes();
  if (bytes.empty()) throw Error(ErrorCode::kDataLoss, path + " is not a valid safetensors file: it is empty");
  const auto read = [&] {
    const safetensors::Header header =
        safetensors::parse(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, bytes.size());
    content_.metadata = header.metadata;
    for (const auto& entry : header.entries) content_.tensors.emplace_back(entry.name, seen(header, entry));
  };
  try {
    read();
  } catch (const Error&) {
    check();  // zeros in the place of what was cut off are why
    throw;
  }
  check();
}

at::Tensor SafetensorsFile::seen(const safetensors::Header& header, const safetensors::Entry& entry) const {
  const at::TensorOptions options(safetensors::scalar_type(entry));
  const std::uint64_t place = header.data + entry.begin, size = entry.end - entry.begin;
  if (size != 0 && place % options.dtype().itemsize() == 0) {
    return at::empty({0}, options).set_(weights::mapped_storage(file_, place, size), 0, entry.sizes);
  }
  at::Tensor copy = at::empty(entry.sizes, options);
  if (size != 0) std::memcpy(copy.mutable_data_ptr(), &file_->bytes()[place], size);
  return copy;
}

void SafetensorsFile::check() const {
  file_->look_for_end(file_->bytes().size());
  file_->check(0, file_->bytes().size());
}

}  // namespace tandem
