// Hooks: functions of the caller's that autograd calls with gradients.
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <mutex>

#include "core/call/callback.h"
#include "core/handles/handles.h"

namespace tandem::capi {
namespace {

using GradientFunction = tdm_error* (*)(void* user_data, tdm_tensor* gradient, tdm_tensor** replacement);
using TensorFunction = tdm_error* (*)(void* user_data, tdm_tensor* tensor);

// A registration: LibTorch's side owns it, the caller's handle looks at it. Empty once it was removed.
class Registration {
 public:
  explicit Registration(std::shared_ptr<Callback> callback) : callback_(std::move(callback)) {}

  // The callback, which lives for as long as the result does.
  std::shared_ptr<Callback> get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return callback_;
  }

  void remove() {
    std::shared_ptr<Callback> gone;  // ends without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    gone.swap(callback_);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Callback> callback_;
};

}  // namespace
}  // namespace tandem::capi

struct tdm_hook : tandem::capi::Handle<tandem::Kind::kHook> {
  std::weak_ptr<tandem::capi::Registration> registration;
};

namespace tandem::capi {
namespace {

// In LibTorch's list of a tensor's hooks.
struct GradientHook {
  at::TensorBase operator()(const at::TensorBase& gradient) const {
    const auto callback = registration->get();
    at::Tensor result;
    if (!callback || !gradient.defined()) return result;
    tdm_tensor* replacement = nullptr;
    run_callback(
        "a tensor hook",
        [&] { return function(callback->user_data(), make_tensor_handle(at::Tensor(gradient)), &replacement); },
        [&] { result = unwrap_optional(replacement, "replacement"); });
    return result;
  }

  std::shared_ptr<Registration> registration;
  GradientFunction function;
};

// LibTorch keeps one such object a tensor.
struct PostAccumulateHooks final : torch::autograd::PostAccumulateGradHook {
  void operator()(const at::Tensor& tensor) override {
    // A hook may register another one.
    const auto now = hooks;
    for (const auto& [registration, function] : now) {
      const auto callback = registration->get();
      if (!callback) continue;
      run_callback(
          "a post-accumulate-grad hook",
          [&, call = function] { return call(callback->user_data(), make_tensor_handle(tensor)); }, [] {});
    }
  }

  std::vector<std::pair<std::shared_ptr<Registration>, TensorFunction>> hooks;
};

// A program may register and remove a hook in every step. From within a hook the list may be the one that LibTorch goes
// through: that one only grows.
void drop_removed(const at::Tensor& tensor) {
  if (CallbackState::active()) return;
  const auto* meta = torch::autograd::impl::get_autograd_meta(tensor);
  if (!meta || !meta->cpp_hooks_list_) return;
  std::erase_if(*meta->cpp_hooks_list_, [](const auto& hook) {
    const auto* ours = hook.template target<GradientHook>();
    return ours && !ours->registration->get();
  });
}

// Registers by `attach(registration)`, then takes the caller's pointer.
template <typename Attach>
void register_hook(void* user_data, void (*destroy)(void*), tdm_hook** out, Attach&& attach) {
  const auto callback = std::make_shared<Callback>(user_data);
  const auto registration = std::make_shared<Registration>(callback);
  auto handle = out ? std::make_unique<tdm_hook>() : nullptr;
  if (handle) handle->registration = registration;
  attach(registration);
  callback->adopt(destroy);
  if (handle) *out = handle.release();
}

void attach_after_accumulation(const at::Tensor& tensor, const std::shared_ptr<Registration>& registration,
                               TensorFunction function) {
  auto& slot = torch::autograd::impl::post_acc_grad_hooks(tensor);
  if (!slot) torch::autograd::impl::set_post_acc_grad_hooks(tensor, std::make_unique<PostAccumulateHooks>());
  auto* ours = dynamic_cast<PostAccumulateHooks*>(torch::autograd::impl::post_acc_grad_hooks(tensor).get());
  if (!ours) invalid("argument 'tensor' has a hook of this kind that was not registered through Tandem");
  std::erase_if(ours->hooks, [](const auto& hook) { return !hook.first->get(); });
  ours->hooks.emplace_back(registration, function);
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_tensor_register_hook(tdm_tensor* tensor,
                                    tdm_error* (*hook)(void* user_data, tdm_tensor* gradient, tdm_tensor** replacement),
                                    void* user_data, void (*destroy)(void* user_data), tdm_hook** out) {
  return guard("tdm_tensor_register_hook", [&] {
    const at::Tensor& t = unwrap(tensor, "tensor");
    not_null(hook, "hook");
    if (!t.requires_grad()) {
      invalid("argument 'tensor' does not require grad: it has no gradients that a hook could see");
    }
    register_hook(user_data, destroy, out, [&](const auto& registration) {
      drop_removed(t);
      // Not at::Tensor::register_hook, which would hide the type from drop_removed.
      t.at::TensorBase::register_hook(GradientHook{registration, hook});
    });
  });
}

tdm_error* tdm_tensor_register_post_accumulate_grad_hook(tdm_tensor* tensor,
                                                         tdm_error* (*hook)(void* user_data, tdm_tensor* tensor),
                                                         void* user_data, void (*destroy)(void* user_data),
                                                         tdm_hook** out) {
  return guard("tdm_tensor_register_post_accumulate_grad_hook", [&] {
    const at::Tensor& t = unwrap(tensor, "tensor");
    not_null(hook, "hook");
    if (!t.is_leaf() || !t.requires_grad()) {
      invalid("argument 'tensor' is no leaf that requires grad: only such tensors accumulate gradients");
    }
    register_hook(user_data, destroy, out,
                  [&](const auto& registration) { attach_after_accumulation(t, registration, hook); });
  });
}

void tdm_hook_remove(tdm_hook* hook) {
  guard_end("tdm_hook_remove", [&](tandem::ThreadState&) {
    if (!if_live(hook)) return;
    if (const auto registration = hook->registration.lock()) registration->remove();
  });
}

void tdm_hook_free(tdm_hook* hook) {
  tandem::capi::free_handle(hook);
}
