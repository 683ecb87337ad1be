#include "tandem/generate.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <string>

#include "base/invalid.h"
#include "models/text/causal_lm.h"
#include "options.h"

namespace tandem {
namespace {

void need(bool fits, const char* name, const std::string& what) {
  if (!fits) invalid(std::string("generate: option '") + name + "' " + what);
}

void check_generation(const GenerateOptions& o, const at::Tensor& input_ids, const models::CausalLM& model) {
  if (input_ids.dim() != 2 || input_ids.numel() == 0 || input_ids.scalar_type() != at::kLong) {
    invalid(std::string("generate: input_ids must be int64 of [batch, length], not ") +
            at::toString(input_ids.scalar_type()) + " of " + c10::str(input_ids.sizes()));
  }
  need(o.max_new_tokens >= 0, "max_new_tokens", "must not be negative");
  need(o.temperature > 0, "temperature", "must be above 0; without do_sample the likeliest token is taken");
  need(o.top_k >= 0, "top_k", "must not be negative");
  need(o.top_p > 0 && o.top_p <= 1, "top_p", "must be above 0 and at most 1");
  need(!o.attention_mask.defined() || o.attention_mask.sizes() == input_ids.sizes(), "attention_mask",
       "must have input_ids' sizes " + c10::str(input_ids.sizes()));
  // The last token of each row is what the next one follows.
  need(!o.attention_mask.defined() || o.attention_mask.select(1, -1).ne(0).all().item<bool>(), "attention_mask",
       "has zeros in its last column; pad on the left");
  const std::int64_t most = model.max_positions(), length = input_ids.size(1);
  if (length > most || o.max_new_tokens > most - length) {
    invalid("generate: " + std::to_string(length) + " tokens and " + std::to_string(o.max_new_tokens) +
            " new ones are more than the " + std::to_string(most) + " positions that the model knows");
  }
}

// Of the positions that are no padding, from 0; padding's does not matter.
at::Tensor positions_of(const at::Tensor& mask) {
  return (mask.cumsum(1) - 1).clamp_min_(0);
}

// What has been generated so far.
class Generation {
 public:
  Generation(nn::Module& module, const at::Tensor& input_ids, const GenerateOptions& options)
      : module_(module), options_(options), ids_(input_ids) {
    if (options.attention_mask.defined()) mask_ = options.attention_mask.ne(0).to(at::kLong);
    if (!options.eos_token_id.empty()) {
      ends_ = at::tensor(options.eos_token_id, input_ids.options());
      ended_ = at::zeros({input_ids.size(0)}, input_ids.options().dtype(at::kBool));
    }
  }

  at::Tensor run() {
    for (std::int64_t i = 0; i < options_.max_new_tokens; ++i) {
      at::Tensor next = sample_token(next_logits(), options_).to(ids_.device());
      if (ends_.defined()) {
        next = next.masked_fill(ended_, options_.pad_token_id.value_or(options_.eos_token_id[0]));
        ended_ = ended_.logical_or(at::isin(next, ends_));
      }
      ids_ = at::cat({ids_, next.unsqueeze(1)}, 1);
      if (mask_.defined()) mask_ = at::cat({mask_, at::ones({mask_.size(0), 1}, mask_.options())}, 1);
      if (ends_.defined() && ended_.all().item<bool>()) break;
    }
    return ids_;
  }

 private:
  // Of the last position: only those that are not in the cache are computed.
  at::Tensor next_logits() {
    const std::int64_t from = cache_.isNone() ? 0 : ids_.size(1) - 1, length = ids_.size(1) - from;
    at::IValue positions;
    if (mask_.defined()) positions = positions_of(mask_).narrow(1, from, length);
    const auto results =
        module_.forward({ids_.narrow(1, from, length), mask_.defined() ? at::IValue(mask_) : at::IValue(), positions,
                         cache_, options_.use_cache, /*logits_to_keep=*/1});
    if (options_.use_cache) cache_ = results.at(1);
    return results.at(0).toTensor().select(1, -1);
  }

  nn::Module& module_;
  const GenerateOptions& options_;
  at::Tensor ids_, mask_, ends_, ended_;
  at::IValue cache_;
};

}  // namespace

at::Tensor generate(nn::Module& module, const at::Tensor& input_ids, const GenerateOptions& options) {
  const auto* model = dynamic_cast<const models::CausalLM*>(&module.get());
  if (!model) {
    throw Error(ErrorCode::kUnsupported,
                "generate: a " + module.type() + " does not predict tokens; modules that do are gpt2 and llama");
  }
  if (!input_ids.defined()) invalid("generate: input_ids are missing");
  check_generation(options, input_ids, *model);
  const at::NoGradGuard no_grad;
  return Generation(module, input_ids, options).run();
}

GenerateOptions generate_options(const std::vector<Option>& options) {
  GenerateOptions o;
  Options reader("generate", options);
  reader.read("max_new_tokens", o.max_new_tokens).read("do_sample", o.do_sample).read("temperature", o.temperature);
  reader.read("top_k", o.top_k).read("top_p", o.top_p).read("eos_token_id", o.eos_token_id);
  reader.read("pad_token_id", o.pad_token_id).read("attention_mask", o.attention_mask);
  reader.read("use_cache", o.use_cache).read("generator", o.generator);
  reader.finish();
  return o;
}

}  // namespace tandem
