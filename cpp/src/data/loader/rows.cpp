#include "data/loader/rows.h"

#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <exception>
#include <new>
#include <sstream>

#include "base/invalid.h"
#include "data/loader/io_retry.h"
#include "tandem/error.h"

namespace tandem::loader {
namespace {

std::string describe(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " of shape " << tensor.sizes();
  return text.str();
}

}  // namespace

void require_cpu(const at::Tensor& tensor, const Name& of) {
  if (!tensor.defined()) invalid(of() + " has a tensor without data");
  if (!tensor.device().is_cpu() || tensor.layout() != at::kStrided) {
    invalid(of() + " has a tensor on " + tensor.device().str() + "; samples are dense tensors on the CPU");
  }
}

void rethrow_named(const std::string& name) {
  const std::string prefix = "cannot load " + name + ": ";
  const std::string decoding = "cannot decode " + name + ": ";
  try {
    throw;
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (message.starts_with(prefix) || message.starts_with(decoding)) throw;
    std::throw_with_nested(Error(error.code(), prefix + error.what()));
  } catch (const std::bad_alloc&) {
    std::throw_with_nested(Error(ErrorCode::kOutOfMemory, prefix + "there is not enough memory"));
  } catch (const c10::Error& error) {
    std::throw_with_nested(Error(is_out_of_memory(error) ? ErrorCode::kOutOfMemory : ErrorCode::kCallback,
                                 prefix + error.what_without_backtrace()));
  } catch (const std::exception& error) {
    std::throw_with_nested(Error(ErrorCode::kCallback, prefix + error.what()));
  }
}

Rows::Rows(const std::vector<at::Tensor>& like, std::string of, std::int64_t rows) : first_(std::move(of)) {
  for (const at::Tensor& tensor : like) {
    require_cpu(tensor, [this] { return first_; });
    std::vector<std::int64_t> sizes{rows};
    sizes.insert(sizes.end(), tensor.sizes().begin(), tensor.sizes().end());
    tensors_.push_back(at::zeros(sizes, at::TensorOptions(tensor.scalar_type())));
  }
}

void Rows::set(std::int64_t row, const std::vector<at::Tensor>& sample, const Name& of) {
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

std::vector<at::Tensor> stack(
    const Dataset& of, std::span<const std::int64_t> samples, std::int64_t rows,
    const std::function<std::vector<at::Tensor>(std::int64_t sample, std::size_t place)>& load) {
  const auto named = [&](std::int64_t sample) { return [&of, sample] { return of.place(sample); }; };
  const auto get = [&](std::int64_t sample, std::size_t place) {
    return naming(named(sample), [&] { return load(sample, place); });
  };
  const std::int64_t first = samples.empty() ? 0 : samples[0];
  auto sample = get(first, 0);
  Rows stacked(sample, of.place(first), rows);
  for (std::size_t place = 0; place < samples.size(); ++place) {
    if (place > 0) sample = get(samples[place], place);
    stacked.set(static_cast<std::int64_t>(place), sample, named(samples[place]));
  }
  return stacked.take();
}

}  // namespace tandem::loader
