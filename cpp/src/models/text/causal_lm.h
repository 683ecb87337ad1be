// What decoders that predict the next token have in common: their inputs, masks and the cache of keys and values.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nn/modules/arguments.h"

namespace tandem::models {

// The keys and values of all layers, (key, value, key, value, …), each [batch, heads, positions, size of a head].
class KeyValueCache {
 public:
  KeyValueCache(std::vector<at::Tensor> past, bool keeps) : past_(std::move(past)), keeps_(keeps) {}

  // Those of a layer's positions so far, with the new ones at their end. Called once for each layer, in order.
  std::pair<at::Tensor, at::Tensor> append(at::Tensor key, at::Tensor value);

  bool keeps() const { return keeps_; }
  std::vector<at::Tensor> take() { return std::move(present_); }

 private:
  std::vector<at::Tensor> past_, present_;
  bool keeps_;
  std::size_t next_ = 0;
};

// One forward.
struct DecoderStep {
  at::Tensor input_ids, position_ids;  // [batch, length]
  // Of bool, true where a position is attended to: broadcasts to [batch, heads, length, positions]. Undefined: all of
  // them, or where `causal` those that are not later.
  at::Tensor mask;
  bool causal;
  KeyValueCache cache;
  std::int64_t logits_to_keep = 0;

  // The hidden states [batch, length, size] whose logits are wanted.
  at::Tensor kept(const at::Tensor& hidden) const;
};

// Heads of [batch, heads, length, size]; key and value may have fewer, each for as many of the query's. Gives
// [batch, length, heads · size].
at::Tensor attend_causally(DecoderStep& step, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           double dropout);

struct CausalLMOutput {
  at::Tensor logits;                        // [batch, length or logits_to_keep, vocab_size]
  std::vector<at::Tensor> past_key_values;  // as KeyValueCache has them
  bool keeps = false;
};

// Source: forward() of Hugging Face's …ForCausalLM, and GPT2LMHeadModel.
class CausalLM : public torch::nn::Module {
 public:
  // input_ids [batch, length] of integers. attention_mask is [batch, positions], 0 where a position is padding, those
  // of the past included. position_ids are [batch, length], by default those that follow the past. past_key_values are
  // what an earlier forward gave; with them, or with use_cache, it gives those of all positions.
  // logits_to_keep: of so many last positions alone; 0, the default: of all. Throws tandem::Error (kInvalidArgument)
  // naming what does not fit.
  CausalLMOutput forward(const at::Tensor& input_ids, const at::Tensor& attention_mask, const at::Tensor& position_ids,
                         const std::vector<at::Tensor>& past_key_values, std::optional<bool> use_cache,
                         std::optional<std::int64_t> logits_to_keep);

  // The most positions that it knows.
  virtual std::int64_t max_positions() const = 0;

 protected:
  virtual std::size_t layer_count() const = 0;
  // [heads of keys, size of a head]
  virtual std::pair<std::int64_t, std::int64_t> key_sizes() const = 0;
  virtual at::Tensor decode(DecoderStep& step) = 0;  // logits

 private:
  std::int64_t past_length(const at::Tensor& input_ids, const std::vector<at::Tensor>& past) const;
};

inline const nn::Names kCausalLMInputs = {"input_ids",        "attention_mask?", "position_ids?",
                                          "past_key_values?", "use_cache?",      "logits_to_keep?"};

// The logits, and the cache where one is kept: found by the registry's wrapper.
inline void add_results(const CausalLMOutput& output, std::vector<at::IValue>& out) {
  out.emplace_back(output.logits);
  if (!output.keeps) return;
  out.emplace_back(c10::ivalue::Tuple::create(
      std::vector<at::IValue>(output.past_key_values.begin(), output.past_key_values.end())));
}
inline nn::ValueDescription describe_value(const CausalLMOutput*) {
  return {"tensor", {}};
}

}  // namespace tandem::models
