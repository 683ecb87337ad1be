// Samples of different sizes in one tensor: padded to the largest, or packed end to end.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tandem/export.h"

namespace tandem {

struct PadOptions {
  double value = 0;
  // Sizes are rounded up to multiples of this, so that fewer different shapes occur.
  std::int64_t multiple_of = 1;
  // Of dimension 0: longer sequences are cut; 0 is no limit.
  std::int64_t max_length = 0;
};

struct Padded {
  at::Tensor tensor;   // [N, …]: each dimension as large as the largest sample's
  at::Tensor lengths;  // [N] int64: of dimension 0 of each sample, after cutting
};

// Samples of one dtype and number of dimensions, at least one of each, to one tensor; what a sample does not fill has
// `value`. For sequences [L, …] this is torch.nn.utils.rnn.pad_sequence(batch_first=True). CPU tensors.
// Throws Error(kInvalidArgument) that names the sample which does not go with the first.
TANDEM_API Padded pad_to_largest(std::span<const at::Tensor> samples, const PadOptions& options = {});

// [N, length] bool from lengths [N]: true where there is data, as key padding masks have it inverted.
TANDEM_API at::Tensor mask_of_lengths(const at::Tensor& lengths, std::int64_t length);

struct PackOptions {
  std::int64_t length = 0;  // of each row
  double value = 0;         // of what the last sequence of a row does not fill
  // Sequences run on in the next row; else a sequence begins a new row where it does not fit into the one that is being
  // filled, and one that is longer than a row is an error.
  bool split = true;
};

// Sequences end to end in rows of one length.
struct Packed {
  at::Tensor tensor;       // [R, length, …]
  at::Tensor segment_ids;  // [R, length] int64: which sequence of the row, from 1; 0 where there is none
  at::Tensor positions;    // [R, length] int64: place within the sequence's part in this row; 0 where there is none
  // [S + 1] int32: where each segment begins in the rows one after another, unfilled ends being segments too, and
  // R · length at the end: what variable-length attention takes, whose longest segment is max_seqlen.
  at::Tensor cu_seqlens;
  std::int64_t max_seqlen = 0;
};

// Sequences [L, …] of one dtype and the same other sizes; empty ones leave no trace. CPU tensors.
// Throws Error(kInvalidArgument) naming the sequence that does not fit.
TANDEM_API Packed pack_sequences(std::span<const at::Tensor> sequences, const PackOptions& options);

}  // namespace tandem
