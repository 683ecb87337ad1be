#include "exported/model.h"

#include <algorithm>
#include <set>

namespace tandem::exported {
namespace {

std::vector<std::string> split_at_dots(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t dot; (dot = name.find('.', begin)) != std::string::npos; begin = dot + 1) {
    parts.push_back(name.substr(begin, dot - begin));
  }
  parts.push_back(name.substr(begin));
  return parts;
}

// Whether it is a parameter or a persistent buffer.
bool is_state(const InputBinding& input) {
  return input.kind == InputBinding::Kind::kParameter ||
         (input.kind == InputBinding::Kind::kBuffer && input.persistent);
}

const char* shown_mode(ExportedMode mode) {
  return mode == ExportedMode::kEvaluation ? "evaluation" : "training";
}

}  // namespace

Model::Model(std::vector<std::shared_ptr<const Program>> programs) : Scope(""), programs_(std::move(programs)) {
  add_state(*programs_.front());
  for (const auto& program : programs_) {
    if (program != programs_.front()) check_state(*program);
    add_constants(*program);
  }
  torch::nn::Module::train(programs_.front()->mode() != ExportedMode::kEvaluation);
}

Model::Model(const Model& other)
    : Scope(""),
      programs_(other.programs_),
      present_(other.present_),
      constants_(other.constants_),
      exported_device_(other.exported_device_),
      real_(other.real_),
      exported_dtype_(other.exported_dtype_) {
  at::NoGradGuard no_grad;
  std::map<const void*, at::Tensor> copies;  // tied ones stay so
  const auto copy_of = [&](const at::Tensor& tensor) {
    at::Tensor& copy = copies[tensor.unsafeGetTensorImpl()];
    if (!copy.defined()) copy = tensor.detach().clone();
    return copy;
  };
  for (const auto& [name, is_parameter] : other.registered_) {
    const at::Tensor& tensor = other.state_.at(name);
    register_tensor(name, copy_of(tensor), is_parameter, tensor.requires_grad());
  }
  // A graph may change its buffers in place.
  for (auto& constants : constants_) {
    for (auto& [name, tensor] : constants) tensor = copy_of(tensor);
  }
  torch::nn::Module::train(other.is_training());
}

void Model::add_state(const Program& program) {
  const Archive& archive = *program.archive();
  const auto weights = read_payloads(archive, kWeightsFolder, kWeightsConfig);
  std::set<std::string> added;
  const auto add = [&](const std::string& name, const Payload& payload, bool is_parameter) {
    if (!added.insert(name).second) return;
    if (added.size() == 1) exported_device_ = payload.exported_on;
    if (real_.empty() && payload.tensor.is_floating_point()) {
      real_ = name;
      exported_dtype_ = payload.tensor.scalar_type();
    }
    register_tensor(name, payload.tensor, is_parameter, is_parameter && payload.requires_grad);
  };
  for (const InputBinding& input : program.signature().inputs) {
    if (!is_state(input)) continue;
    const auto found = weights.find(input.name);
    if (found == weights.end()) damaged(archive.name(), "has no tensor for '" + input.name + "'");
    add(input.name, found->second, input.kind == InputBinding::Kind::kParameter);
  }
  // What the graph does not read is a part of the state all the same.
  for (const auto& [name, payload] : weights) add(name, payload, payload.is_parameter);
}

void Model::check_state(const Program& other) const {
  const std::string &name = other.archive()->name(), &first = programs_.front()->archive()->name();
  std::string differences;
  const auto note = [&](const std::string& what) { differences += (differences.empty() ? "" : "; ") + what; };
  const auto weights = read_payloads(*other.archive(), kWeightsFolder, kWeightsConfig);
  for (const auto& [key, payload] : weights) {
    const auto found = state_.find(key);
    if (found == state_.end()) {
      note("only it has '" + key + "'");
    } else if (found->second.sizes() != payload.tensor.sizes() ||
               found->second.scalar_type() != payload.tensor.scalar_type()) {
      note("'" + key + "' is of another shape or dtype");
    }
  }
  for (const auto& [key, tensor] : state_) {
    if (!weights.count(key)) note("it has no '" + key + "'");
  }
  for (const InputBinding& input : other.signature().inputs) {
    if (is_state(input) && !state_.count(input.name)) note("it reads '" + input.name + "'");
  }
  if (!differences.empty()) {
    throw Error(ErrorCode::kInvalidArgument, name + " is not of the model of " + first + ": " + differences);
  }
}

void Model::add_constants(const Program& program) {
  const auto constants = read_payloads(*program.archive(), kConstantsFolder, kConstantsConfig);
  std::map<std::string, at::Tensor> own;
  for (const InputBinding& input : program.signature().inputs) {
    using Kind = InputBinding::Kind;
    if (is_state(input) || input.kind == Kind::kUser || input.kind == Kind::kFixed) continue;
    const auto found = constants.find(input.name);
    if (found == constants.end()) damaged(program.archive()->name(), "has no tensor for '" + input.name + "'");
    at::Tensor tensor = found->second.tensor;
    // A buffer is the model's, whichever graph runs; constants are numbered anew in each export.
    if (input.kind == Kind::kBuffer && !constants_.empty() && constants_.front().count(input.name)) {
      tensor = constants_.front().at(input.name);
    }
    own.emplace(input.name, std::move(tensor));
  }
  constants_.push_back(std::move(own));
}

void Model::register_tensor(const std::string& name, const at::Tensor& tensor, bool is_parameter, bool requires_grad) {
  if (!tensor.is_floating_point() && !tensor.is_complex()) requires_grad = false;
  const auto first = std::find_if(registered_.begin(), registered_.end(),
                                  [&](const auto& one) { return state_.at(one.first).is_same(tensor); });
  if (first != registered_.end() && first->second == is_parameter) {
    tied_.emplace_back(name, first->first);
  } else {
    tensor.set_requires_grad(requires_grad);
    add_to_tree(name, tensor, is_parameter);
  }
  state_.emplace(name, tensor);
  registered_.emplace_back(name, is_parameter);
}

void Model::add_to_tree(const std::string& name, const at::Tensor& tensor, bool is_parameter) {
  const std::vector<std::string> parts = split_at_dots(name);
  torch::nn::Module* scope = this;
  try {
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto children = scope->named_children();
      const auto* found = children.find(parts[i]);
      scope = found ? found->get() : scope->register_module(parts[i], std::make_shared<Scope>(parts[i])).get();
    }
    is_parameter ? scope->register_parameter(parts.back(), tensor, tensor.requires_grad())
                 : scope->register_buffer(parts.back(), tensor);
  } catch (const c10::Error& error) {
    damaged(programs_.front()->archive()->name(),
            "has a tensor called '" + name + "', which cannot be: " + error.what_without_backtrace());
  }
}

void Model::train(bool on) {
  const ExportedMode wanted = on ? ExportedMode::kTraining : ExportedMode::kEvaluation;
  // The present one is kept where none fits better.
  const auto fit = [&](std::size_t i) {
    const ExportedMode mode = programs_[i]->mode();
    const bool will_do = mode == ExportedMode::kNone || (on && mode == ExportedMode::kMixed);
    return mode == wanted ? 3 : will_do ? (i == present_ ? 2 : 1) : 0;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < programs_.size(); ++i) {
    if (fit(i) > fit(best)) best = i;
  }
  if (fit(best) == 0) {
    unsupported(programs_.front()->archive()->name(),
                std::string("was exported in ") + shown_mode(programs_.front()->mode()) + " mode and has no " +
                    shown_mode(wanted) + " mode; export the model in that mode as well, and load both");
  }
  present_ = best;
  torch::nn::Module::train(on);
}

at::Device Model::present_device() const {
  return real_.empty() ? at::Device(at::kCPU) : state_.at(real_).device();
}

at::Tensor Model::moved(const at::Tensor& tensor) const {
  const at::Device device = present_device();
  if (tensor.device() == device) return tensor;
  const std::lock_guard<std::mutex> lock(moving_);
  at::Tensor& there = moved_[tensor.unsafeGetTensorImpl()];
  if (!there.defined() || there.device() != device) there = tensor.to(device);
  return there;
}

at::Tensor Model::at(const InputBinding& binding) const {
  return is_state(binding) ? state_.at(binding.name) : moved(constants_[present_].at(binding.name));
}

bool Model::has_other_dtype() const {
  return !real_.empty() && state_.at(real_).scalar_type() != exported_dtype_;
}

at::IValue Model::call(at::ArrayRef<at::IValue> arguments) const {
  const DeviceChange devices{exported_device_, present_device()};
  return program().run(arguments, *this, devices, has_other_dtype());
}

}  // namespace tandem::exported
