#include "models/text/causal_lm.h"

#include "base/invalid.h"

namespace tandem::models {
namespace {

bool is_integer(const at::Tensor& tensor) {
  return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

void need_ids(const at::Tensor& ids, const char* name) {
  if (ids.dim() == 2 && ids.size(0) > 0 && ids.size(1) > 0 &&
      (ids.scalar_type() == at::kLong || ids.scalar_type() == at::kInt)) {
    return;
  }
  invalid(std::string("forward: ") + name + " must be int64 or int32 of [batch, length], not " +
          at::toString(ids.scalar_type()) + " of " + c10::str(ids.sizes()));
}

// [batch, 1, length, positions]. A position of padding attends to itself, so that no row is without any.
at::Tensor padded_mask(const at::Tensor& attention_mask, const at::Tensor& causal, std::int64_t past) {
  const std::int64_t length = causal.size(0);
  at::Tensor own = at::zeros_like(causal);
  own.diagonal(past).fill_(true);
  const at::Tensor present = attention_mask.ne(0).unsqueeze(1).expand({-1, length, -1});
  return causal.logical_and(present).logical_or(own).unsqueeze(1);
}

}  // namespace

std::pair<at::Tensor, at::Tensor> KeyValueCache::append(at::Tensor key, at::Tensor value) {
  if (!past_.empty()) {
    key = at::cat({past_[next_], key}, 2);
    value = at::cat({past_[next_ + 1], value}, 2);
  }
  next_ += 2;
  if (keeps_) present_.insert(present_.end(), {key, value});
  return {key, value};
}

at::Tensor DecoderStep::kept(const at::Tensor& hidden) const {
  return logits_to_keep > 0 ? hidden.narrow(1, hidden.size(1) - logits_to_keep, logits_to_keep) : hidden;
}

at::Tensor attend_causally(DecoderStep& step, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           double dropout) {
  const auto [keys, values] = step.cache.append(key, value);
  const auto mask = step.mask.defined() ? std::make_optional(step.mask) : std::nullopt;
  const at::Tensor attended =
      at::scaled_dot_product_attention(query, keys, values, mask, dropout, step.causal, std::nullopt,
                                       /*enable_gqa=*/query.size(1) != keys.size(1));
  return attended.transpose(1, 2).flatten(2);
}

std::int64_t CausalLM::past_length(const at::Tensor& input_ids, const std::vector<at::Tensor>& past) const {
  if (past.empty()) return 0;
  const auto [heads, size] = key_sizes();
  if (past.size() != 2 * layer_count()) {
    invalid("forward: past_key_values must be " + std::to_string(2 * layer_count()) +
            " tensors, key and value of each layer, not " + std::to_string(past.size()));
  }
  const std::int64_t length = past[0].dim() == 4 ? past[0].size(2) : 0;
  const std::vector<std::int64_t> wanted{input_ids.size(0), heads, length, size};
  for (const at::Tensor& one : past) {
    if (one.sizes() == at::IntArrayRef(wanted)) continue;
    invalid("forward: past_key_values must be tensors of [batch " + std::to_string(wanted[0]) + ", heads " +
            std::to_string(heads) + ", positions, " + std::to_string(size) + "], all of one length, not of " +
            c10::str(one.sizes()));
  }
  return length;
}

CausalLMOutput CausalLM::forward(const at::Tensor& input_ids, const at::Tensor& attention_mask,
                                 const at::Tensor& position_ids, const std::vector<at::Tensor>& past_key_values,
                                 std::optional<bool> use_cache, std::optional<std::int64_t> logits_to_keep) {
  need_ids(input_ids, "input_ids");
  const std::int64_t batch = input_ids.size(0), length = input_ids.size(1);
  const std::int64_t past = past_length(input_ids, past_key_values), positions = past + length;
  if (positions > max_positions()) {
    invalid("forward: " + std::to_string(positions) + " positions are more than the " +
            std::to_string(max_positions()) + " that the model knows");
  }
  if (logits_to_keep && (*logits_to_keep < 0 || *logits_to_keep > length)) {
    invalid("forward: logits_to_keep must be from 0 to the " + std::to_string(length) + " positions, not " +
            std::to_string(*logits_to_keep));
  }
  at::Tensor places = position_ids;
  if (places.defined()) {
    need_ids(places, "position_ids");
    if (places.size(1) != length || (places.size(0) != batch && places.size(0) != 1)) {
      invalid("forward: position_ids must be of input_ids' sizes " + c10::str(input_ids.sizes()) + ", not " +
              c10::str(places.sizes()));
    }
  } else {
    places = at::arange(past, positions, input_ids.options().dtype(at::kLong)).unsqueeze(0);
  }
  at::Tensor mask;
  const auto earlier = [&] { return at::ones({length, positions}, input_ids.options().dtype(at::kBool)).tril(past); };
  if (attention_mask.defined()) {
    const std::vector<std::int64_t> wanted{batch, positions};
    if (attention_mask.sizes() != at::IntArrayRef(wanted) ||
        !(attention_mask.scalar_type() == at::kBool || is_integer(attention_mask))) {
      invalid("forward: attention_mask must be of bool or integers and of " + c10::str(at::IntArrayRef(wanted)) +
              ", not " + at::toString(attention_mask.scalar_type()) + " of " + c10::str(attention_mask.sizes()));
    }
    mask = padded_mask(attention_mask, earlier(), past);
  } else if (past > 0 && length > 1) {
    mask = earlier();
  }
  DecoderStep step{input_ids,
                   places,
                   mask,
                   !mask.defined() && length > 1,
                   KeyValueCache(past_key_values, use_cache.value_or(!past_key_values.empty())),
                   logits_to_keep.value_or(0)};
  at::Tensor logits = decode(step);
  const bool keeps = step.cache.keeps();
  return {std::move(logits), step.cache.take(), keeps};
}

}  // namespace tandem::models
