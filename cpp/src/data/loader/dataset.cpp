#include "tandem/dataset.h"

#include <ATen/ops/zeros.h>

#include <cstring>

#include "base/crc32c.h"
#include "base/invalid.h"
#include "base/mix.h"
#include "data/loader/rows.h"
#include "tandem/error.h"

namespace tandem {
namespace {

class TensorDataset : public Dataset {
 public:
  TensorDataset(std::vector<at::Tensor> tensors, std::vector<std::string> names)
      : tensors_(std::move(tensors)), names_(std::move(names)) {
    if (tensors_.empty()) invalid("a data set needs at least one tensor");
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const std::string self = "tensor " + std::to_string(i);
      loader::require_cpu(tensors_[i], [&] { return self; });
      if (tensors_[i].dim() == 0) invalid(self + " is a scalar; its first dimension is that of samples");
      if (tensors_[i].size(0) != tensors_[0].size(0)) {
        invalid(self + " has " + std::to_string(tensors_[i].size(0)) + " rows, but tensor 0 has " +
                std::to_string(tensors_[0].size(0)));
      }
      tensors_[i] = tensors_[i].detach().contiguous();
    }
    if (!names_.empty() && names_.size() != tensors_.size()) {
      invalid(std::to_string(names_.size()) + " names for " + std::to_string(tensors_.size()) + " tensors");
    }
  }

  std::int64_t size() const override { return tensors_[0].size(0); }
  std::vector<std::string> names() const override { return names_; }

  std::vector<at::Tensor> get(std::int64_t index) override {
    std::vector<at::Tensor> sample;
    for (const at::Tensor& tensor : tensors_) sample.push_back(tensor[index]);
    return sample;
  }

  std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows) override {
    std::vector<at::Tensor> batch;
    for (const at::Tensor& tensor : tensors_) {
      std::vector<std::int64_t> sizes = tensor.sizes().vec();
      sizes[0] = rows;
      batch.push_back(at::zeros(sizes, tensor.options()));
      auto* out = static_cast<char*>(batch.back().mutable_data_ptr());
      const auto* in = static_cast<const char*>(tensor.const_data_ptr());
      const std::size_t bytes = size() == 0 ? 0 : tensor.nbytes() / static_cast<std::size_t>(size());
      for (const std::int64_t sample : samples) {
        std::memcpy(out, in + static_cast<std::size_t>(sample) * bytes, bytes);
        out += bytes;
      }
    }
    return batch;
  }

  std::uint64_t fingerprint() const override {
    std::uint64_t hash = mix(0, "tensors");
    for (const at::Tensor& tensor : tensors_) {
      hash = mix(hash, static_cast<std::uint64_t>(tensor.scalar_type()));
      for (const std::int64_t size : tensor.sizes()) hash = mix(hash, static_cast<std::uint64_t>(size));
      hash = mix(hash, crc32c({static_cast<const std::uint8_t*>(tensor.const_data_ptr()), tensor.nbytes()}));
    }
    return hash;
  }

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<std::string> names_;
};

}  // namespace

Dataset::~Dataset() = default;

std::vector<at::Tensor> Dataset::get_batch(std::span<const std::int64_t> samples, std::int64_t rows) {
  return loader::stack(*this, samples, rows, [&](std::int64_t index, std::size_t) { return get(index); });
}

std::vector<at::Tensor> Dataset::get_random(std::int64_t index, std::uint64_t) {
  return get(index);
}

std::vector<at::Tensor> Dataset::get_random_batch(std::span<const std::int64_t> samples, std::span<const std::uint64_t>,
                                                  std::int64_t rows) {
  return get_batch(samples, rows);
}

std::uint64_t Dataset::fingerprint() const {
  return mix(0, static_cast<std::uint64_t>(size()));
}

std::shared_ptr<Dataset> tensor_dataset(std::vector<at::Tensor> tensors, std::vector<std::string> names) {
  return std::make_shared<TensorDataset>(std::move(tensors), std::move(names));
}

}  // namespace tandem
