#include "tandem/averaged_parameters.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/invalid.h"

namespace tandem::optim {
namespace {

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors, const AveragedOptions& options,
                                  const char* what) {
  std::vector<at::Tensor> copies;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    if (!tensor.defined() || tensor.layout() != at::kStrided) {
      invalid(std::string("AveragedParameters: ") + what + " " + std::to_string(i) + " is " +
              (tensor.defined() ? "sparse; dense tensors alone can be averaged" : "undefined"));
    }
    copies.push_back(tensor.detach().to(tensor.options().device(options.device.value_or(tensor.device())),
                                        /*non_blocking=*/false, /*copy=*/true));
  }
  return copies;
}

bool has_lerp(at::ScalarType dtype) {
  return at::isFloatingType(dtype) || at::isComplexType(dtype);
}

}  // namespace

AveragedParameters::AveragedParameters(std::vector<at::Tensor> parameters, std::vector<at::Tensor> buffers,
                                       const AveragedOptions& options)
    : options_(options) {
  if (!(options.decay >= 0 && options.decay <= 1)) {
    invalid("AveragedParameters: decay is " + std::to_string(options.decay) + "; it must be at least 0 and at most 1");
  }
  at::NoGradGuard no_grad;
  parameters_.averages = copies_of(parameters, options, "parameter");
  buffers_.averages = copies_of(buffers, options, "buffer");
  parameters_.tensors = std::move(parameters);
  buffers_.tensors = std::move(buffers);
}

void AveragedParameters::copy(const List& list) {
  for (std::size_t i = 0; i < list.tensors.size(); ++i) list.averages[i].copy_(list.tensors[i].detach());
}

void AveragedParameters::average(const List& list) {
  // Python computes SWA's weight in float32, which shows in averages of float64.
  const double share = options_.averaging == Averaging::kEma
                           ? 1 - options_.decay
                           : static_cast<double>(1.0F / static_cast<float>(n_averaged_ + 1));
  std::map<std::tuple<at::DeviceType, int, at::ScalarType>, std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>>>
      groups;
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    const at::Tensor& average = list.averages[i];
    const at::Tensor current = list.tensors[i].detach().to(average.device());
    if (has_lerp(average.scalar_type())) {
      auto& [averages, currents] = groups[{average.device().type(), average.device().index(), average.scalar_type()}];
      averages.push_back(average);
      currents.push_back(current);
    } else if (options_.averaging == Averaging::kEma) {
      average.copy_(average * options_.decay + current * (1 - options_.decay));
    } else {
      average.copy_(average + (current - average) / static_cast<double>(n_averaged_ + 1));
    }
  }
  for (auto& [key, lists] : groups) at::_foreach_lerp_(lists.first, lists.second, share);
}

void AveragedParameters::update() {
  at::NoGradGuard no_grad;
  if (n_averaged_ == 0) {
    copy(parameters_);
    copy(buffers_);
  } else {
    average(parameters_);
    if (options_.use_buffers) {
      average(buffers_);
    } else {
      copy(buffers_);
    }
  }
  ++n_averaged_;
}

void AveragedParameters::swap() {
  at::NoGradGuard no_grad;
  for (const List* list : {&parameters_, &buffers_}) {
    for (std::size_t i = 0; i < list->tensors.size(); ++i) {
      const at::Tensor tensor = list->tensors[i].detach(), before = tensor.clone();
      tensor.copy_(list->averages[i]);
      list->averages[i].copy_(before);
    }
  }
}

std::vector<std::pair<std::string, at::Tensor>> AveragedParameters::state() const {
  std::vector<std::pair<std::string, at::Tensor>> items{
      {"n_averaged", at::full({}, n_averaged_, at::TensorOptions(at::kLong))}};
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    items.emplace_back("parameter." + std::to_string(i), parameters()[i]);
  }
  for (std::size_t i = 0; i < buffers().size(); ++i) items.emplace_back("buffer." + std::to_string(i), buffers()[i]);
  return items;
}

void AveragedParameters::load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) {
  at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> given(state.begin(), state.end());
  const auto own = this->state();
  for (const auto& [name, tensor] : own) {
    const auto found = given.find(name);
    if (found == given.end()) invalid("AveragedParameters: state '" + name + "' is missing");
    if (found->second.sizes() != tensor.sizes()) {
      invalid("AveragedParameters: state '" + name + "' has other sizes than what is averaged here");
    }
  }
  for (const auto& [name, tensor] : state) {
    if (std::none_of(own.begin(), own.end(), [&, &name = name](const auto& item) { return item.first == name; })) {
      invalid("AveragedParameters: state '" + name + "' is of nothing that is averaged here");
    }
  }
  const auto count = given["n_averaged"].item().toLong();
  if (count < 0) invalid("AveragedParameters: state 'n_averaged' is " + std::to_string(count) + "; it counts updates");
  for (const auto& [name, tensor] : own) tensor.copy_(given[name]);
  n_averaged_ = count;
}

}  // namespace tandem::optim
