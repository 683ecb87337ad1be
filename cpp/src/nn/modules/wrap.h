// Turns a torch::nn module into a tandem::nn::Module: what its forward() takes and gives is deduced.
#pragma once

#include <functional>

#include "nn/modules/arguments.h"
#include "nn/modules/member.h"
#include "options.h"
#include "tandem/nn.h"

namespace tandem::nn {

using std::int64_t;
namespace tn = torch::nn;
using Made = std::unique_ptr<Module>;

// What a factory makes its module from, or describes it to.
class ModuleOptions : public Options {
 public:
  ModuleOptions(const std::string& type, const std::vector<Option>& given) : Options(type, given), type_(type) {}
  ModuleOptions(const std::string& type, ModuleDescription& description)
      : Options(type, description.options), type_(type), description_(&description) {}

  const std::string& type() const { return type_; }
  // NULL when the module is to be made.
  ModuleDescription* description() { return description_; }

 private:
  std::string type_;
  ModuleDescription* description_ = nullptr;
};

// Of a forward: a method of the implementation, or a function of it and the arguments.
template <typename Forward, typename = void>
struct Signature : Signature<decltype(&Forward::operator())> {};
template <typename R, typename Class, typename... Parameters>
struct Signature<R (Class::*)(Parameters...)> {
  using Result = R;
  using Kepts = std::tuple<Kept<Parameters>...>;
};
template <typename R, typename Implementation, typename... Parameters>
struct Signature<R (*)(Implementation&, Parameters...)> {
  using Result = R;
  using Kepts = std::tuple<Kept<Parameters>...>;
};
template <typename R, typename Class, typename Implementation, typename... Parameters>
struct Signature<R (Class::*)(Implementation&, Parameters...) const> {
  using Result = R;
  using Kepts = std::tuple<Kept<Parameters>...>;
};

template <typename Implementation, typename Forward>
class Wrapped : public Module {
  using Result = typename Signature<Forward>::Result;
  using Kepts = typename Signature<Forward>::Kepts;

 public:
  Wrapped(std::string type, std::shared_ptr<Implementation> implementation, Names names, Forward forward)
      : Module(std::move(type)),
        implementation_(std::move(implementation)),
        names_(std::move(names)),
        forward_(std::move(forward)) {}

  torch::nn::Module& get() const override { return *implementation_; }

  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> given) override {
    const std::shared_ptr<void> parameters = computed();
    if constexpr (requires { &Implementation::forward_with_packed_input; }) {
      constexpr auto packed = &Implementation::forward_with_packed_input;
      using PackedKepts = typename Signature<std::remove_const_t<decltype(packed)>>::Kepts;
      if (!given.empty() && given[0].isTuple()) return call(given, packed, static_cast<PackedKepts*>(nullptr));
    }
    return call(given, forward_, static_cast<Kepts*>(nullptr));
  }

  static void describe(const Names& names, ModuleDescription& description) {
    describe_arguments(names, description, static_cast<Kepts*>(nullptr));
    ValueDescription result = describe_value(static_cast<const Result*>(nullptr));
    if (result.type == "tuple") {
      description.results = std::move(result.parts);
    } else {
      description.results = {std::move(result)};
    }
  }

 protected:
  std::unique_ptr<Module> copy() const override {
    auto copied = std::dynamic_pointer_cast<Implementation>(implementation_->clone());
    return std::make_unique<Wrapped>(type(), std::move(copied), names_, forward_);
  }

  at::Tensor* member(const std::string& name) override { return member_of(*implementation_, name); }

 private:
  template <typename Method, typename... Keeps>
  std::vector<at::IValue> call(at::ArrayRef<at::IValue> given, const Method& method, std::tuple<Keeps...>*) {
    Arguments arguments(type(), names_, given);
    // Braces: evaluated in order.
    const std::tuple<typename Keeps::type...> kept{arguments.next<typename Keeps::type>()...};
    arguments.finish();
    std::vector<at::IValue> results;
    std::apply(
        [&](const auto&... each) { add_results(std::invoke(method, *implementation_, Keeps::pass(each)...), results); },
        kept);
    return results;
  }

  template <typename... Keeps>
  static void describe_arguments(const Names& names, ModuleDescription& description, std::tuple<Keeps...>*) {
    std::vector<ValueDescription> types{describe_value(static_cast<const typename Keeps::type*>(nullptr))...};
    TORCH_INTERNAL_ASSERT(types.size() == names.size(), description.type, " has a name for each argument");
    for (std::size_t i = 0; i < names.size(); ++i) {
      description.arguments.push_back({without_mark(names[i]), std::move(types[i]), !may_be_left_out(names[i])});
    }
  }

  std::shared_ptr<Implementation> implementation_;
  Names names_;
  Forward forward_;
};

// Refuses unknown options, makes a `Holder` of the settings, and calls `forward` with it and the arguments of those
// names.
template <typename Holder, typename Forward, typename... Settings>
Made wrap_with(ModuleOptions& options, Names names, Forward forward, const Settings&... settings) {
  using Implementation = std::remove_cvref_t<decltype(*std::declval<Holder>().ptr())>;
  if (ModuleDescription* description = options.description()) {
    Wrapped<Implementation, Forward>::describe(names, *description);
    return nullptr;
  }
  options.finish();
  return std::make_unique<Wrapped<Implementation, Forward>>(options.type(), Holder(settings...).ptr(), std::move(names),
                                                            std::move(forward));
}

// The same, of its own forward().
template <typename Holder, typename... Settings>
Made wrap(ModuleOptions& options, Names names, const Settings&... settings) {
  using Implementation = std::remove_cvref_t<decltype(*std::declval<Holder>().ptr())>;
  return wrap_with<Holder>(options, std::move(names), &Implementation::forward, settings...);
}

// A module without tensors of its own. `function` takes a tn::IdentityImpl&, which tells whether it trains, and the
// arguments.
template <typename Function>
Made wrap_function(ModuleOptions& options, Names names, Function function) {
  return wrap_with<tn::Identity>(options, std::move(names), std::move(function));
}

using Factory = Made (*)(ModuleOptions& options);
struct Registered {
  const char* type;
  Factory make;
};

// Tables of the registry, a file each.
at::ArrayRef<Registered> activations();
at::ArrayRef<Registered> adaptive_softmaxes();
at::ArrayRef<Registered> attentions();
at::ArrayRef<Registered> convolutions();
at::ArrayRef<Registered> distances();
at::ArrayRef<Registered> dropouts();
at::ArrayRef<Registered> embeddings();
at::ArrayRef<Registered> linears();
at::ArrayRef<Registered> losses();
at::ArrayRef<Registered> normalizations();
at::ArrayRef<Registered> paddings();
at::ArrayRef<Registered> poolings();
at::ArrayRef<Registered> recurrents();
at::ArrayRef<Registered> shapes();
at::ArrayRef<Registered> transformers();
at::ArrayRef<Registered> unpoolings();
at::ArrayRef<Registered> upsamplings();

}  // namespace tandem::nn
