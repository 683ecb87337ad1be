#include "nn/parametrizations.h"

#include <algorithm>
#include <utility>

#include "tandem/error.h"

namespace tandem::nn {
namespace {

constexpr const char* kChild = "parametrizations";

// LibTorch registers parameters, but gives none back.
struct Access : torch::nn::Module {
  static auto parameters() { return &Access::parameters_; }
};

std::string names_of(const torch::nn::Module& module) {
  std::string names;
  for (const auto& one : module.named_parameters(false)) names += (names.empty() ? "" : ", ") + one.key();
  return names.empty() ? "none" : names;
}

}  // namespace

class Parametrizations::Computed {
 public:
  explicit Computed(Parametrizations& of) : of_(of), lock_(of.forwarding_) {
    try {
      for (const One& one : of_.all_) *one.place = one.by->compute();
    } catch (...) {
      clear();
      throw;
    }
  }
  ~Computed() { clear(); }
  Computed(const Computed&) = delete;
  Computed& operator=(const Computed&) = delete;

 private:
  void clear() {
    for (const One& one : of_.all_) *one.place = at::Tensor();
  }

  Parametrizations& of_;
  std::lock_guard<std::mutex> lock_;
};

std::shared_ptr<void> Module::computed() const {
  return parametrizations_ ? Parametrizations::computed(*this) : nullptr;
}

std::shared_ptr<void> Parametrizations::computed(const Module& module) {
  return std::make_shared<Computed>(*module.parametrizations_);
}

at::Tensor Parametrizations::parameter(Module& module, const std::string& name) {
  if (find(module, name)) {
    throw Error(ErrorCode::kInvalidArgument, module.type() + ": '" + name + "' is parametrized already");
  }
  const auto own = module.get().named_parameters(false);
  const at::Tensor* found = own.find(name);
  if (found && module.member(name)) return *found;
  throw Error(ErrorCode::kNotFound, module.type() + " has no parameter '" + name +
                                        "' that can be computed; its parameters are " + names_of(module.get()));
}

std::shared_ptr<Parametrization> Parametrizations::find(const Module& module, const std::string& name) {
  if (!module.parametrizations_) return nullptr;
  for (const One& one : module.parametrizations_->all_) {
    if (one.name == name) return one.by;
  }
  return nullptr;
}

void Parametrizations::attach(Module& module, const One& one) {
  torch::nn::Module& owner = module.get();
  const auto children = owner.named_children();
  const auto* child = children.find(kChild);
  const auto container = child ? *child : owner.register_module(kChild, std::make_shared<torch::nn::Module>());
  container->register_module(one.name, one.by);
  (owner.*Access::parameters()).erase(one.name);
  *one.place = at::Tensor();
}

void Parametrizations::detach(Module& module, const One& one, const at::Tensor& value) {
  torch::nn::Module& owner = module.get();
  (owner.*Access::parameters()).insert(one.name, value);
  *one.place = value;
  const auto container = owner.named_children()[kChild];
  container->unregister_module(one.name);
  if (container->children().empty()) owner.unregister_module(kChild);
}

void Parametrizations::add(Module& module, const std::string& name, std::shared_ptr<Parametrization> by) {
  by->train(module.get().is_training());
  if (!module.parametrizations_) module.parametrizations_ = std::make_shared<Parametrizations>();
  Parametrizations& own = *module.parametrizations_;
  const std::lock_guard<std::mutex> lock(own.forwarding_);
  own.all_.push_back({name, module.member(name), std::move(by)});
  attach(module, own.all_.back());
}

void Parametrizations::remove(Module& module, const std::string& name, const at::Tensor& value) {
  Parametrizations& own = *module.parametrizations_;
  const std::lock_guard<std::mutex> lock(own.forwarding_);
  const auto found = std::find_if(own.all_.begin(), own.all_.end(), [&](const One& one) { return one.name == name; });
  detach(module, *found, value);
  own.all_.erase(found);
}

// While it lives the module has the parameters that it began with: LibTorch clones no other. What can fail comes before
// anything is changed.
class Parametrizations::Plain {
 public:
  Plain(Module& module, const Parametrizations& of)
      : owner_(module.get()),
        of_(of),
        container_(owner_.named_children()[kChild]),
        others_(owner_.*Access::parameters()) {
    auto& parameters = owner_.*Access::parameters();
    for (const One& one : of_.all_) others_.insert(one.name, one.by->like());
    std::swap(parameters, others_);
    owner_.unregister_module(kChild);
    for (const One& one : of_.all_) *one.place = one.by->like();
  }
  ~Plain() {
    for (const One& one : of_.all_) *one.place = at::Tensor();
    owner_.register_module(kChild, container_);
    std::swap(owner_.*Access::parameters(), others_);
  }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;

 private:
  torch::nn::Module& owner_;
  const Parametrizations& of_;
  const std::shared_ptr<torch::nn::Module> container_;
  torch::OrderedDict<std::string, at::Tensor> others_;  // the parameters of the other way
};

std::unique_ptr<Module> Parametrizations::copy(const Module& module) {
  if (!module.parametrizations_ || module.parametrizations_->all_.empty()) return module.copy();
  auto& owner = const_cast<Module&>(module);
  const Parametrizations& own = *module.parametrizations_;
  const std::lock_guard<std::mutex> lock(module.parametrizations_->forwarding_);
  std::unique_ptr<Module> made;
  {
    const Plain plain(owner, own);
    made = module.copy();
  }
  for (const One& one : own.all_) add(*made, one.name, one.by->copy());
  return made;
}

}  // namespace tandem::nn
