#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "base/invalid.h"
#include "tandem/generate.h"

namespace tandem {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

void keep_highest(at::Tensor& scores, std::int64_t count) {
  const auto highest = std::get<0>(scores.topk(std::min(count, scores.size(-1)), -1));
  scores = scores.masked_fill(scores.lt(highest.narrow(-1, highest.size(-1) - 1, 1)), kNever);
}

// The likeliest ones, until their sum reaches p; at least one.
void keep_likeliest(at::Tensor& scores, double p) {
  const auto [sorted, order] = scores.sort(-1, /*descending=*/true);
  const at::Tensor likely = sorted.softmax(-1);
  at::Tensor left_out = (likely.cumsum(-1) - likely).ge(p);  // what comes before is enough
  left_out.narrow(-1, 0, 1).fill_(false);
  scores = scores.masked_fill(at::zeros_like(left_out).scatter_(-1, order, left_out), kNever);
}

}  // namespace

at::Tensor sample_token(const at::Tensor& logits, const GenerateOptions& options) {
  if (logits.dim() != 2 || logits.size(1) == 0 || !logits.is_floating_point()) {
    invalid(std::string("sample_token: logits must be of a floating-point dtype and [batch, vocab_size], not ") +
            at::toString(logits.scalar_type()) + " of " + c10::str(logits.sizes()));
  }
  if (!options.do_sample) return logits.argmax(-1);
  at::Tensor scores = logits.to(logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat) / options.temperature;
  if (options.top_k > 0) keep_highest(scores, options.top_k);
  if (options.top_p < 1) keep_likeliest(scores, options.top_p);
  return scores.softmax(-1).multinomial(1, /*replacement=*/false, options.generator).squeeze(-1);
}

}  // namespace tandem
