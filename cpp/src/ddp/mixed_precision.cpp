#include "ddp/mixed_precision.h"

#include <torch/csrc/autograd/engine.h>

#include <algorithm>

#include "ddp/gradients/accumulation_hooks.h"

namespace tandem {
namespace {

void set_data(const at::Tensor& tensor, const at::Tensor& data) {
  at::NoGradGuard no_grad;
  // set_data() refuses a gradient of another dtype.
  at::Tensor gradient = std::exchange(tensor.mutable_grad(), at::Tensor());
  tensor.set_data(data);
  tensor.mutable_grad() = std::move(gradient);
}

}  // namespace

struct LoweredParameters::Parts : std::enable_shared_from_this<LoweredParameters::Parts> {
  at::ScalarType dtype;
  std::vector<at::Tensor> all, trained;
  std::function<void(std::size_t)> on_gradient;
  std::vector<at::Tensor> full;  // data of `all` while lowered
  // New ones each time: with its dtype a parameter changes its accumulator.
  AccumulationHooks hooks;
  bool restores = false;  // at the end of the backward that runs

  void restore() {
    hooks.clear();
    for (std::size_t i = 0; i < full.size(); ++i) set_data(all[i], full[i]);
    full.clear();
    restores = false;
  }

  void gradient_came(std::size_t index, at::ScalarType own) {
    at::Tensor& gradient = trained[index].mutable_grad();
    if (gradient.defined() && gradient.scalar_type() != own) gradient = gradient.detach().to(own);
    if (!std::exchange(restores, true)) {
      torch::autograd::Engine::get_default_engine().queue_callback([weak = weak_from_this()] {
        if (const auto parts = weak.lock()) parts->restore();
      });
    }
    on_gradient(index);
  }
};

LoweredParameters::LoweredParameters(at::ScalarType dtype, std::vector<at::Tensor> all, std::vector<at::Tensor> trained,
                                     std::function<void(std::size_t)> on_gradient)
    : parts_(std::make_shared<Parts>()) {
  parts_->dtype = dtype;
  for (at::Tensor& tensor : all) {
    if (tensor.is_floating_point()) parts_->all.push_back(std::move(tensor));
  }
  parts_->trained = std::move(trained);
  parts_->on_gradient = std::move(on_gradient);
}

LoweredParameters::~LoweredParameters() {
  parts_->restore();
}

bool LoweredParameters::lowered() const {
  return !parts_->full.empty();
}

void LoweredParameters::lower() {
  if (lowered()) return;
  at::NoGradGuard no_grad;
  std::vector<at::ScalarType> own;
  for (const at::Tensor& parameter : parts_->trained) own.push_back(parameter.scalar_type());
  for (const at::Tensor& tensor : parts_->all) {
    parts_->full.push_back(tensor.variable_data());
    set_data(tensor, parts_->full.back().to(parts_->dtype));
  }
  for (std::size_t i = 0; i < parts_->trained.size(); ++i) {
    parts_->hooks.add(parts_->trained[i],
                      [parts = parts_.get(), i, dtype = own[i]] { parts->gradient_came(i, dtype); });
  }
}

void LoweredParameters::restore() {
  parts_->restore();
}

void LoweredParameters::restore(const std::vector<at::Tensor>& some) {
  if (!lowered()) return;
  for (const at::Tensor& tensor : some) {
    const auto place = std::find_if(parts_->all.begin(), parts_->all.end(),
                                    [&](const at::Tensor& one) { return one.is_same(tensor); });
    if (place == parts_->all.end()) continue;
    const auto index = static_cast<std::size_t>(place - parts_->all.begin());
    set_data(tensor, parts_->full[index]);
  }
}

void cast_buffers(const std::vector<at::Tensor>& buffers, at::ScalarType dtype) {
  for (const at::Tensor& buffer : buffers) {
    if (buffer.is_floating_point()) set_data(buffer, buffer.detach().to(dtype));
  }
}

}  // namespace tandem
