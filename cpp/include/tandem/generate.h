// Text from networks that predict the next token: "gpt2", "llama". Source: generate() of Hugging Face's transformers.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tandem/export.h"
#include "tandem/nn.h"

namespace tandem {

struct GenerateOptions {
  std::int64_t max_new_tokens = 20;
  bool do_sample = false;   // else the likeliest token is taken, and the next three have no effect
  double temperature = 1;   // scores are divided by it
  std::int64_t top_k = 50;  // tokens are drawn from those of the k highest scores; 0: from all
  double top_p = 1;         // and from the likeliest ones whose probabilities sum up to it (Holtzman et al. 2020)
  std::vector<std::int64_t> eos_token_id{};    // a row ends with any of these; none: with max_new_tokens
  std::optional<std::int64_t> pad_token_id{};  // what follows in rows that have ended; by default the first of those
  at::Tensor attention_mask{};                 // [batch, length], 0 where input_ids are padding: on the left
  bool use_cache = true;  // keys and values of earlier positions are kept, so that a token costs one position
  std::optional<at::Generator> generator{};  // else the default one of the device
};

// input_ids [batch, length], int64, with the tokens that `module` adds, [batch, length + at most max_new_tokens]: as
// many as the longest row has. Without a record for autograd; dropout follows the module's mode. Throws tandem::Error:
// kUnsupported for other modules, kInvalidArgument naming what does not fit, as more positions than the module knows.
TANDEM_API at::Tensor generate(nn::Module& module, const at::Tensor& input_ids, const GenerateOptions& options = {});
// Options by the names above. Throws tandem::Error: kNotFound for an unknown one, kInvalidArgument for an ill-typed
// one.
TANDEM_API GenerateOptions generate_options(const std::vector<Option>& options);

// One token for each row of scores [batch, vocab_size]: [batch]. Of `options` those of sampling matter.
TANDEM_API at::Tensor sample_token(const at::Tensor& logits, const GenerateOptions& options);

}  // namespace tandem
