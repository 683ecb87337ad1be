// Gradients that travel as bytes. Every rank gets all ranks' bytes and sums what they mean, in order of rank.
#include <ATen/ATen.h>

#include <algorithm>

#include "ddp/reduce.h"
#include "tandem/error.h"

namespace tandem {
namespace {

constexpr double kLevels = 255;

// The float32 pairs (step, level of zero) of each row, then a byte an element: what one rank sends. Zero is a level, so
// that it stays zero: of parameters that a batch did not use, and where dropout left gradients out.
at::Tensor pack(const at::Tensor& rows) {
  const at::Tensor smallest = rows.amin(1).clamp_max(0), largest = rows.amax(1).clamp_min(0);
  const at::Tensor step = (largest - smallest) / kLevels;
  // Not `step > 0`: a step that is no number must stay one.
  const at::Tensor divisor = at::where(step == 0, at::ones_like(step), step);
  const at::Tensor zero = (-smallest / divisor).round().clamp(0, kLevels);
  const at::Tensor levels =
      (rows / divisor.unsqueeze(1)).round().add(zero.unsqueeze(1)).clamp(0, kLevels).nan_to_num(0).to(at::kByte);
  const at::Tensor scales = at::stack({step, zero}, 1).contiguous().view(at::kByte).reshape({-1});
  return at::cat({scales, levels.reshape({-1})});
}

at::Tensor unpack(const at::Tensor& bytes, std::int64_t rows) {
  const std::int64_t head = rows * 2 * static_cast<std::int64_t>(sizeof(float));
  // A copy, for the alignment.
  const at::Tensor scales = bytes.narrow(0, 0, head).clone().view(at::kFloat).view({rows, 2});
  const at::Tensor levels = bytes.narrow(0, head, bytes.numel() - head).view({rows, -1}).to(at::kFloat);
  return (levels - scales.select(1, 1).unsqueeze(1)) * scales.select(1, 0).unsqueeze(1);
}

// `row`: how many elements share a scale; 0: all.
Exchange exchange(ProcessGroup& group, const at::Tensor& buffer, std::int64_t row) {
  if (buffer.is_sparse() || buffer.is_complex() || buffer.numel() == 0) return reduce_mean(group, buffer);
  const std::int64_t count = buffer.numel();
  const std::int64_t width = row == 0 ? count : std::min(row, count);
  const std::int64_t rows = (count + width - 1) / width;
  at::Tensor flat = buffer.to(at::kFloat);
  // Repeats of the last element widen no row's range.
  if (rows * width > count) flat = at::cat({flat, flat.narrow(0, count - 1, 1).expand({rows * width - count})});
  const at::Tensor mine = pack(flat.view({rows, width}));
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < group.size(); ++rank) all.push_back(at::empty_like(mine));
  const Work work = group.all_gather_async(all, mine);
  const int size = group.size();
  return {work,
          [all, buffer, rows, count, size] {
            at::Tensor sum = unpack(all[0], rows);
            for (std::size_t rank = 1; rank < all.size(); ++rank) sum += unpack(all[rank], rows);
            at::Tensor(buffer).copy_((sum / size).view({-1}).narrow(0, 0, count));
            return Exchange{{}, {}, buffer};
          },
          {}};
}

}  // namespace

CommHook quantization_pertensor_hook(std::shared_ptr<ProcessGroup> group) {
  return [group = std::move(group)](c10d::GradBucket& bucket) { return exchange(*group, bucket.getBuffer(), 0); };
}

CommHook quantization_perchannel_hook(std::shared_ptr<ProcessGroup> group, std::int64_t bucket_size) {
  if (bucket_size < 1) {
    throw Error(ErrorCode::kInvalidArgument, "quantization_perchannel_hook: bucket_size is " +
                                                 std::to_string(bucket_size) + "; it must be at least 1");
  }
  return [group = std::move(group), bucket_size](c10d::GradBucket& bucket) {
    return exchange(*group, bucket.getBuffer(), bucket_size);
  };
}

}  // namespace tandem
