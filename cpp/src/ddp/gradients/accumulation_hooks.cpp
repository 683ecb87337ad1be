#include "ddp/gradients/accumulation_hooks.h"

#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace tandem {

using torch::autograd::variable_list;

void AccumulationHooks::add(const at::Tensor& parameter, std::function<void()> hook) {
  NodePointer accumulator = torch::autograd::impl::grad_accumulator(parameter);
  auto wrapped = std::make_unique<torch::autograd::utils::LambdaPostHook>(
      [hook = std::move(hook)](const variable_list& outputs, const variable_list&) {
        hook();
        return outputs;
      });
  const std::uintptr_t key = accumulator->add_post_hook(std::move(wrapped));
  hooks_.emplace_back(std::move(accumulator), key);
}

void AccumulationHooks::clear() {
  for (auto& [accumulator, key] : hooks_) accumulator->del_post_hook(key);
  hooks_.clear();
}

}  // namespace tandem
