#include "tandem/dataset.h"

#include <ATen/ops/zeros.h>

#include <cstring>
#include <sstream>

#include "crc32c.h"
#include "data/mix.h"
#include "tandem/error.h"

namespace tandem {
namespace {

[[noreturn]] void invalid(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

std::string describe(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " of shape " << tensor.sizes();
  return text.str();
}

// `of` says whose it is.
template <typename Of>
void require_cpu(const at::Tensor& tensor, Of&& of) {
  if (!tensor.defined()) invalid(of() + " has a tensor without data");
  if (!tensor.device().is_cpu() || tensor.layout() != at::kStrided) {
    invalid(of() + " has a tensor on " + tensor.device().str() + "; samples are dense tensors on the CPU");
  }
}

// Rows of samples of one shape and dtype each.
class Rows {
 public:
  Rows(const std::vector<at::Tensor>& like, std::string of, std::int64_t rows) : first_(std::move(of)) {
    for (const at::Tensor& tensor : like) {
      require_cpu(tensor, [this] { return first_; });
      std::vector<std::int64_t> sizes{rows};
      sizes.insert(sizes.end(), tensor.sizes().begin(), tensor.sizes().end());
      tensors_.push_back(at::zeros(sizes, at::TensorOptions(tensor.scalar_type())));
    }
  }

  template <typename Of>
  void set(std::int64_t row, const std::vector<at::Tensor>& sample, Of&& of) {
    if (sample.size() != tensors_.size()) {
      invalid(of() + " has " + std::to_string(sample.size()) + " tensors, but " + first_ + " has " +
              std::to_string(tensors_.size()));
    }
    for (std::size_t i = 0; i < sample.size(); ++i) {
      require_cpu(sample[i], of);
      const at::Tensor& rows = tensors_[i];
      if (sample[i].scalar_type() != rows.scalar_type() || sample[i].sizes() != rows.sizes().slice(1)) {
        invalid(of() + " has as tensor " + std::to_string(i) + " " + describe(sample[i]) + ", but " + first_ + " has " +
                describe(rows[0]) + "; the samples of a batch are stacked, so they must be alike");
      }
      const at::Tensor whole = sample[i].contiguous();
      const std::size_t bytes = whole.nbytes();
      if (bytes == 0) continue;
      std::memcpy(static_cast<char*>(rows.mutable_data_ptr()) + static_cast<std::size_t>(row) * bytes,
                  whole.const_data_ptr(), bytes);
    }
  }

  std::vector<at::Tensor> take() { return std::move(tensors_); }

 private:
  std::string first_;
  std::vector<at::Tensor> tensors_;
};

std::vector<at::Tensor> get_sample(Dataset& dataset, std::int64_t index) {
  try {
    return dataset.get(index);
  } catch (const Error& error) {
    throw Error(error.code(), "cannot load " + dataset.place(index) + ": " + error.what());
  }
}

class TensorDataset : public Dataset {
 public:
  TensorDataset(std::vector<at::Tensor> tensors, std::vector<std::string> names)
      : tensors_(std::move(tensors)), names_(std::move(names)) {
    if (tensors_.empty()) invalid("a data set needs at least one tensor");
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const std::string self = "tensor " + std::to_string(i);
      require_cpu(tensors_[i], [&] { return self; });
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
  const std::int64_t first = samples.empty() ? 0 : samples[0];
  auto sample = get_sample(*this, first);
  Rows stacked(sample, place(first), rows);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (row > 0) sample = get_sample(*this, samples[row]);
    stacked.set(static_cast<std::int64_t>(row), sample, [&] { return place(samples[row]); });
  }
  return stacked.take();
}

std::uint64_t Dataset::fingerprint() const {
  return mix(0, static_cast<std::uint64_t>(size()));
}

std::shared_ptr<Dataset> tensor_dataset(std::vector<at::Tensor> tensors, std::vector<std::string> names) {
  return std::make_shared<TensorDataset>(std::move(tensors), std::move(names));
}

}  // namespace tandem
