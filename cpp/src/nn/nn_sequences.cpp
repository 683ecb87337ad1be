#include "tandem/nn_sequences.h"

#include <string>

#include "base/invalid.h"
#include "nn/packed_sequence.h"

namespace tandem::nn {
namespace {

void check_indices(const at::Tensor& indices, std::int64_t batch, const char* name) {
  if (!indices.defined()) return;
  if (indices.dim() != 1 || indices.size(0) != batch || indices.scalar_type() != at::kLong) {
    invalid(std::string("a packed sequence of a batch of ") + std::to_string(batch) + " has as many " + name +
            ", int64, not " + c10::str(indices.scalar_type()) + " of sizes " + c10::str(indices.sizes()));
  }
}

}  // namespace

torch::nn::utils::rnn::PackedSequence packed_sequence(const at::Tensor& data, const at::Tensor& batch_sizes,
                                                      const at::Tensor& sorted_indices,
                                                      const at::Tensor& unsorted_indices) {
  if (!data.defined() || data.dim() < 1) invalid("a packed sequence needs data, [elements of all sequences, …]");
  if (!batch_sizes.defined() || batch_sizes.dim() != 1 || batch_sizes.numel() == 0 || !batch_sizes.is_cpu() ||
      batch_sizes.scalar_type() != at::kLong) {
    invalid("a packed sequence needs batch_sizes, int64 of one dimension on the CPU");
  }
  const at::Tensor sizes = batch_sizes.contiguous();
  const std::int64_t* size = sizes.const_data_ptr<std::int64_t>();
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < sizes.numel(); ++i) {
    if (size[i] < 1 || (i != 0 && size[i] > size[i - 1])) {
      invalid("a packed sequence's batch_sizes are positive and never grow; place " + std::to_string(i) + " is " +
              std::to_string(size[i]));
    }
    rows += size[i];
  }
  if (rows != data.size(0)) {
    invalid("a packed sequence's batch_sizes add up to " + std::to_string(rows) + ", its data has " +
            std::to_string(data.size(0)) + " rows");
  }
  check_indices(sorted_indices, size[0], "sorted_indices");
  check_indices(unsorted_indices, size[0], "unsorted_indices");
  return torch::nn::utils::rnn::PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices);
}

}  // namespace tandem::nn

namespace tandem::nn::utils {

std::vector<at::Tensor> unpad_sequence(const at::Tensor& padded_sequences, const at::Tensor& lengths,
                                       bool batch_first) {
  if (padded_sequences.dim() < 2) {
    invalid("unpad_sequence takes [length, batch, …], not sizes " + c10::str(padded_sequences.sizes()));
  }
  const at::Tensor rows = batch_first ? padded_sequences : padded_sequences.transpose(0, 1);
  if (lengths.dim() != 1 || lengths.size(0) != rows.size(0) || !at::isIntegralType(lengths.scalar_type(), false)) {
    invalid("unpad_sequence: lengths is a whole number for each of " + std::to_string(rows.size(0)) +
            " sequences, not " + c10::str(lengths.scalar_type()) + " of sizes " + c10::str(lengths.sizes()));
  }
  const at::Tensor here = lengths.to(at::kCPU, at::kLong).contiguous();
  const std::int64_t* length = here.const_data_ptr<std::int64_t>();
  std::vector<at::Tensor> sequences;
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    if (length[i] < 0 || length[i] > rows.size(1)) {
      invalid("unpad_sequence: sequence " + std::to_string(i) + " has length " + std::to_string(length[i]) + ", of " +
              std::to_string(rows.size(1)) + " that are there");
    }
    sequences.push_back(rows.select(0, i).narrow(0, 0, length[i]));
  }
  return sequences;
}

std::vector<at::Tensor> unpack_sequence(const torch::nn::utils::rnn::PackedSequence& packed_sequences) {
  const auto [padded, lengths] = torch::nn::utils::rnn::pad_packed_sequence(packed_sequences, true);
  return unpad_sequence(padded, lengths, true);
}

}  // namespace tandem::nn::utils
