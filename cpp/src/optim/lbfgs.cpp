#include "optim/lbfgs.h"

#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <charconv>
#include <deque>

#include "base/invalid.h"
#include "optim/parameters.h"
#include "optim/setting.h"
#include "tandem/error.h"
#include "optim/step_watch.h"

namespace tandem::optim {
namespace {

using NamedState = std::vector<std::pair<std::string, at::Tensor>>;
using torch::optim::LBFGSOptions;
using torch::optim::LBFGSParamState;

constexpr char kType[] = "LBFGS";

[[noreturn]] void refuse_state(const std::string& name, const std::string& why) {
  invalid(std::string(kType) + ": state '" + name + "' " + why);
}

Setting whole(const char* name, double value, double least) {
  return {name, value, Kind::kWhole, {least}};
}

Settings settings_of(const std::vector<Option>& options) {
  Settings settings({number("lr", 1),
                     whole("max_iter", 20, 0),
                     whole("max_eval", 25, 0),
                     number("tolerance_grad", 1e-7),
                     number("tolerance_change", 1e-9),
                     whole("history_size", 100, 1),
                     {"line_search_fn", -1, Kind::kChoice, {}, {"strong_wolfe"}}},
                    {});
  std::vector<Option> given = options;
  // None is what is left out: a quarter more than iterations.
  std::erase_if(given, [](const Option& one) { return one.name == "max_eval" && one.value.isNone(); });
  settings.change(kType, given, /*later=*/false);
  if (std::none_of(given.begin(), given.end(), [](const Option& one) { return one.name == "max_eval"; })) {
    const auto evaluations = static_cast<std::int64_t>(settings.get("max_iter")) * 5 / 4;
    settings.change(kType, {{"max_eval", evaluations}}, /*later=*/false);
  }
  return settings;
}

// What the history has, newest last.
constexpr std::pair<const char*, std::deque<at::Tensor>& (LBFGSParamState::*)()> kHistory[] = {
    {"old_dirs", &LBFGSParamState::old_dirs},
    {"old_stps", &LBFGSParamState::old_stps},
    {"ro", &LBFGSParamState::ro},
};

// Source: LibTorch's LBFGS; Nocedal and Wright, "Numerical Optimization", 2006, algorithms 7.5 and 3.5.
class Lbfgs final : public Optimizer {
 public:
  Lbfgs(std::vector<at::Tensor> parameters, Settings settings)
      : Optimizer(std::move(parameters)), settings_(std::move(settings)), lbfgs_(parameters_) {}

  const char* type() const override { return kType; }

  void step() override {
    throw Error(ErrorCode::kUnsupported,
                "LBFGS computes the loss several times a step; give step() a closure that computes it");
  }

  at::Tensor step(const Closure& closure) override {
    tell_before_step();
    auto& options = static_cast<LBFGSOptions&>(lbfgs_.param_groups()[0].options());
    options.lr(settings_.get("lr"));
    options.max_iter(static_cast<std::int64_t>(settings_.get("max_iter")));
    options.max_eval(static_cast<std::int64_t>(settings_.get("max_eval")));
    options.tolerance_grad(settings_.get("tolerance_grad"));
    options.tolerance_change(settings_.get("tolerance_change"));
    options.history_size(static_cast<std::int64_t>(settings_.get("history_size")));
    options.line_search_fn(settings_.get("line_search_fn") < 0 ? std::nullopt
                                                               : std::make_optional<std::string>("strong_wolfe"));
    fit_history(static_cast<std::size_t>(options.history_size()));
    return lbfgs_.step([&] { return evaluated(kType, closure); });
  }

  std::size_t group_count() const override { return 1; }
  std::vector<std::size_t> group_sizes() const override { return {parameters_.size()}; }
  std::vector<std::string> option_names() const override { return settings_.names(); }
  void add_group(ParameterGroup) override {
    throw Error(ErrorCode::kUnsupported, "LBFGS has one group of parameters: it looks at all of them together");
  }

  using Optimizer::get_option;
  void set_options(std::size_t group, const std::vector<Option>& options) override {
    check_group(group);
    Settings changed = settings_;
    changed.change(kType, options, /*later=*/true);
    settings_ = std::move(changed);
  }
  using Optimizer::set_option;
  void set_option(const Option& option) override { set_options(0, {option}); }
  at::IValue get_option(std::size_t group, const std::string& name) const override {
    check_group(group);
    return settings_.get(kType, name);
  }

  // Python keeps it with the first parameter.
  NamedState state() const override {
    NamedState items;
    const auto found = lbfgs_.state().find(key());
    if (found == lbfgs_.state().end()) return items;
    auto& state = static_cast<LBFGSParamState&>(*found->second);
    items.emplace_back("0.func_evals", at::full({}, state.func_evals(), at::kLong));
    items.emplace_back("0.n_iter", at::full({}, state.n_iter(), at::kLong));
    if (state.n_iter() == 0) return items;
    items.emplace_back("0.t", at::full({}, state.t(), at::kDouble));
    items.emplace_back("0.prev_loss", at::full({}, state.prev_loss(), at::kDouble));
    items.emplace_back("0.d", state.d());
    items.emplace_back("0.H_diag", state.H_diag());
    items.emplace_back("0.prev_flat_grad", state.prev_flat_grad());
    for (const auto& [name, list] : kHistory) {
      const auto& tensors = (state.*list)();
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        items.emplace_back("0." + std::string(name) + "." + std::to_string(i), tensors[i]);
      }
    }
    return items;
  }

  void load_state(const NamedState& items) override {
    at::NoGradGuard no_grad;
    auto state = std::make_unique<LBFGSParamState>();
    for (const auto& [name, tensor] : items) load(*state, name, tensor);
    if (state->n_iter() > 0) {
      for (const auto& [name, tensor] : {std::pair("0.d", state->d()),
                                         {"0.H_diag", state->H_diag()},
                                         {"0.prev_flat_grad", state->prev_flat_grad()}}) {
        if (!tensor.defined()) refuse_state(name, "is missing");
      }
    }
    const std::size_t count = state->ro().size();
    for (const auto& [name, list] : kHistory) {
      const auto& tensors = ((*state).*list)();
      const bool whole = std::all_of(tensors.begin(), tensors.end(), [](const auto& one) { return one.defined(); });
      if (!whole || tensors.size() != count) {
        refuse_state("0." + std::string(name), "has gaps: 'old_dirs', 'old_stps' and 'ro' go from 0 to one number");
      }
    }
    if (items.empty()) {
      lbfgs_.state().erase(key());
    } else {
      lbfgs_.state()[key()] = std::move(state);
    }
  }

 private:
  void check_group(std::size_t group) const {
    if (group == 0) return;
    throw Error(ErrorCode::kOutOfRange, "LBFGS has no group " + std::to_string(group) + "; it has 1");
  }

  // To the option, which may have changed: LibTorch keeps to the one of the first step.
  void fit_history(std::size_t most) {
    const auto found = lbfgs_.state().find(key());
    if (found == lbfgs_.state().end()) return;
    auto& state = static_cast<LBFGSParamState&>(*found->second);
    for (const auto& [name, list] : kHistory) {
      auto& tensors = (state.*list)();
      while (tensors.size() > most) tensors.pop_front();
    }
    state.al(std::nullopt);  // scratch of a step, of the history's length
  }

  void* key() const { return parameters_[0].unsafeGetTensorImpl(); }

  // A copy where the parameters are, of as many numbers as they have, or of one.
  at::Tensor copied(const std::string& name, const at::Tensor& tensor, bool is_number) const {
    std::int64_t count = 1;
    if (!is_number) {
      count = 0;
      for (const at::Tensor& parameter : parameters_) count += parameter.numel();
    }
    if (tensor.numel() != count) {
      refuse_state(name, "has " + std::to_string(tensor.numel()) + " numbers; it must have " + std::to_string(count));
    }
    const at::Tensor copy = at::empty(is_number ? at::IntArrayRef() : at::IntArrayRef(count), parameters_[0].options());
    return at::Tensor(copy).copy_(tensor.reshape(copy.sizes())).detach();
  }

  void load(LBFGSParamState& state, const std::string& name, const at::Tensor& tensor) const {
    const auto number = [&] {
      if (tensor.numel() != 1) refuse_state(name, "must be a single number");
      return tensor.item();
    };
    if (name == "0.func_evals") {
      state.func_evals(number().toLong());
    } else if (name == "0.n_iter") {
      state.n_iter(number().toLong());
    } else if (name == "0.t") {
      state.t(number().toDouble());
    } else if (name == "0.prev_loss") {
      state.prev_loss(number().toDouble());
    } else if (name == "0.d") {
      state.d(copied(name, tensor, false));
    } else if (name == "0.H_diag") {
      state.H_diag(copied(name, tensor, true));
    } else if (name == "0.prev_flat_grad") {
      state.prev_flat_grad(copied(name, tensor, false));
    } else if (!load_history(state, name, tensor)) {
      refuse_state(name,
                   "is unknown; there are 0.func_evals, 0.n_iter, 0.t, 0.prev_loss, 0.d, 0.H_diag, "
                   "0.prev_flat_grad, 0.old_dirs.NUMBER, 0.old_stps.NUMBER, 0.ro.NUMBER");
    }
  }

  bool load_history(LBFGSParamState& state, const std::string& name, const at::Tensor& tensor) const {
    for (const auto& [list_name, list] : kHistory) {
      const std::string prefix = "0." + std::string(list_name) + ".";
      if (!name.starts_with(prefix)) continue;
      std::size_t place = 0;
      const char* const end = name.data() + name.size();
      const auto parsed = std::from_chars(name.data() + prefix.size(), end, place);
      if (parsed.ec != std::errc() || parsed.ptr != end) return false;
      const auto most = static_cast<std::size_t>(settings_.get("history_size"));
      if (place >= most) refuse_state(name, "is past option 'history_size', which is " + std::to_string(most));
      auto& tensors = (state.*list)();
      if (tensors.size() <= place) tensors.resize(place + 1);
      tensors[place] = copied(name, tensor, std::string(list_name) == "ro");
      return true;
    }
    return false;
  }

  Settings settings_;
  torch::optim::LBFGS lbfgs_;
};

}  // namespace

std::unique_ptr<Optimizer> make_lbfgs(std::vector<ParameterGroup> groups, const std::vector<Option>& options) {
  if (groups.size() != 1 || groups[0].parameters.empty()) {
    invalid("LBFGS takes one group of parameters, with at least one: it looks at all of them together");
  }
  std::vector<Option> all = groups[0].options;
  for (const Option& option : options) {
    if (std::none_of(all.begin(), all.end(), [&](const Option& one) { return one.name == option.name; })) {
      all.push_back(option);
    }
  }
  const auto refusal = [](const at::Tensor& parameter) -> std::string {
    return parameter.is_complex() ? "is complex, which LibTorch's LBFGS does not take" : "";
  };
  check_parameters(kType, groups[0].parameters, 0, refusal);
  return std::make_unique<Lbfgs>(std::move(groups[0].parameters), settings_of(all));
}

}  // namespace tandem::optim
