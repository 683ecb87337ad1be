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

const char* shown_mode(ExportedMode mode) {
  return mode == ExportedMode::kEvaluation ? "evaluation" : "training";
}

}  // namespace

Model::Model(std::vector<std::shared_ptr<const Program>> programs) : programs_(std::move(programs)) {
  add_state(*programs_.front());
  for (const auto& program : programs_) {
    if (program != programs_.front()) check_state(*program);
    add_constants(*program);
  }
  assign_modes();
  const bool trains = programs_.size() > 1 ? training_ == 0 : programs_.front()->mode() != ExportedMode::kEvaluation;
  torch::nn::Module::train(trains);
}

Model::Model(const Model& other)
    : programs_(other.programs_),
      present_(other.present_),
      training_(other.training_),
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
  if (other.compiled_) add_compiled(other.compiled_->package(), other.compiled_->program());
}

void Model::add_compiled(std::shared_ptr<const Package> package, std::optional<std::size_t> program) {
  const std::size_t evaluation = programs_.size() > 1 ? 1 - training_ : 0;
  const auto find = [this](std::size_t of, const std::string& name) -> at::Tensor {
    if (const auto found = state_.find(name); found != state_.end()) return found->second;
    for (const InputBinding& input : programs_[of]->signature().inputs) {
      if (input.kind == InputBinding::Kind::kBuffer && input.name == name) return constants_[of].at(name);
    }
    return {};
  };
  compiled_ = std::make_unique<const Compiled>(std::move(package), programs_, program.value_or(evaluation),
                                               program.has_value(), find);
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
    if (!input.is_state()) continue;
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
    if (input.is_state() && !state_.count(input.name)) note("it reads '" + input.name + "'");
  }
  if (!differences.empty()) {
    throw Error(ErrorCode::kInvalidArgument, name + " is not of the model of " + first + ": " + differences);
  }
}

void Model::add_constants(const Program& program) {
  const auto constants = read_payloads(*program.archive(), kConstantsFolder, kConstantsConfig);
  std::map<std::string, at::Tensor> own;
  for (const InputBinding& input : program.signature().inputs) {
    if (input.is_state() || input.is_given()) continue;
    const auto found = constants.find(input.name);
    if (found == constants.end()) damaged(program.archive()->name(), "has no tensor for '" + input.name + "'");
    at::Tensor tensor = found->second.tensor;
    // A buffer is the model's, whichever graph runs; constants are numbered anew in each export.
    if (input.kind == InputBinding::Kind::kBuffer && !constants_.empty() && constants_.front().count(input.name)) {
      tensor = constants_.front().at(input.name);
    }
    own.emplace(input.name, std::move(tensor));
  }
  constants_.push_back(std::move(own));
}

void Model::register_tensor(const std::string& name, const at::Tensor& tensor, bool is_parameter, bool requires_grad) {
  if (!tensor.is_floating_point() && !tensor.is_complex()) requires_grad = false;
  const auto [first, is_new] = first_names_.try_emplace({tensor.unsafeGetTensorImpl(), is_parameter}, name);
  if (!is_new) {
    tied_.emplace_back(name, first->second);
  } else {
    tensor.set_requires_grad(requires_grad);
    add_to_tree(name, tensor, is_parameter, programs_.front()->archive()->name());
  }
  state_.emplace(name, tensor);
  registered_.emplace_back(name, is_parameter);
}

void ScopeTree::add_to_tree(const std::string& name, const at::Tensor& tensor, bool is_parameter,
                            const std::string& archive) {
  constexpr std::size_t kDeepestModule = 256;
  const std::vector<std::string> parts = split_at_dots(name);
  if (parts.size() > kDeepestModule) {
    damaged(archive, "has a tensor that lies in " + std::to_string(parts.size() - 1) + " modules, one in the other");
  }
  torch::nn::Module* scope = this;
  std::string path;
  try {
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      path += parts[i] + ".";
      auto [found, is_new] = scopes_.try_emplace(path, nullptr);
      if (is_new) found->second = scope->register_module(parts[i], std::make_shared<Scope>(parts[i])).get();
      scope = found->second;
    }
    is_parameter ? scope->register_parameter(parts.back(), tensor, tensor.requires_grad())
                 : scope->register_buffer(parts.back(), tensor);
  } catch (const c10::Error& error) {
    damaged(archive, "has a tensor called '" + name + "', which cannot be: " + error.what_without_backtrace());
  }
}

// Which of two archives is the one that trains, by what their graphs say.
void Model::assign_modes() {
  if (programs_.size() < 2) return;
  const auto trains = [](ExportedMode mode) {
    return mode == ExportedMode::kTraining ? 2 : mode == ExportedMode::kMixed ? 1 : mode == ExportedMode::kNone ? 0 : -1;
  };
  const ExportedMode first = programs_[0]->mode(), second = programs_[1]->mode();
  if (first == second && (first == ExportedMode::kTraining || first == ExportedMode::kEvaluation)) {
    throw Error(ErrorCode::kInvalidArgument, programs_[0]->archive()->name() + " and " + programs_[1]->archive()->name() +
                                                 " were both exported in " + shown_mode(first) +
                                                 " mode; give one of each mode");
  }
  training_ = trains(second) > trains(first) ? 1 : 0;
}

void Model::train(bool on) {
  if (programs_.size() > 1) {
    present_ = on ? training_ : 1 - training_;
  } else {
    const ExportedMode mode = programs_.front()->mode();
    if (mode != ExportedMode::kNone && on == (mode == ExportedMode::kEvaluation)) {
      unsupported(programs_.front()->archive()->name(),
                  std::string("was exported in ") + shown_mode(mode) + " mode and has no " +
                      shown_mode(on ? ExportedMode::kTraining : ExportedMode::kEvaluation) +
                      " mode; export the model in that mode as well, and load both");
    }
  }
  torch::nn::Module::train(on);
}

at::Device Model::present_device() const {
  return real_.empty() ? at::Device(at::kCPU) : state_.at(real_).device();
}

at::Tensor moved_constant(const at::Tensor& constant, at::Device device) {
  const c10::InferenceMode no_inference(false);
  const at::NoGradGuard no_grad;
  return constant.to(device);
}

// A constant, where the model is.
at::Tensor Model::constant(const std::string& name) const {
  const at::Device device = present_device();
  const std::lock_guard<std::mutex> lock(moving_);
  const at::Tensor found = constants_[present_].at(name);
  if (found.device() == device) return found;
  const at::Tensor there = moved_constant(found, device);
  for (auto& constants : constants_) {
    for (auto& [other, tensor] : constants) {
      if (tensor.is_same(found)) tensor = there;
    }
  }
  return there;
}

at::Tensor Model::at(const InputBinding& binding) const {
  return binding.is_state() ? state_.at(binding.name) : constant(binding.name);
}

bool Model::has_other_dtype() const {
  return !real_.empty() && state_.at(real_).scalar_type() != exported_dtype_;
}

at::IValue Model::call(at::ArrayRef<at::IValue> arguments) const {
  const DeviceChange devices{exported_device_, present_device()};
  Program::Call call = program().prepare(arguments, has_other_dtype());
  if (compiled_ && compiled_->program() == present_ && compiled_->takes_over(call, *this)) {
    return program().nested(compiled_->run(call, *this));
  }
  return program().run(std::move(call), *this, devices);
}

std::vector<Model::State> Model::state_of_part(const Program::Span& span) const {
  const auto& inputs = program().signature().inputs;
  const Program::Span whole = program().between({}, {program().nodes(), {}});
  std::vector<State> found;
  std::set<std::string> used;  // first names, by any part
  const auto first_name = [this](const std::string& name, bool is_parameter) {
    return first_names_.at({state_.at(name).unsafeGetTensorImpl(), is_parameter});
  };
  const auto add = [&](const std::string& name, bool is_parameter) {
    const auto is_it = [&](const State& one) { return one.name == name; };
    if (std::none_of(found.begin(), found.end(), is_it)) found.push_back({name, state_.at(name), is_parameter});
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_state()) continue;
    const bool is_parameter = inputs[i].kind == InputBinding::Kind::kParameter;
    const std::string name = first_name(inputs[i].name, is_parameter);
    if (std::ranges::binary_search(whole.used, i)) used.insert(name);
    if (std::ranges::binary_search(span.used, i)) add(name, is_parameter);
  }
  if (span.begin.node == 0) {
    for (const auto& [name, is_parameter] : registered_) {
      if (!used.contains(first_name(name, is_parameter))) add(first_name(name, is_parameter), is_parameter);
    }
  }
  return found;
}

}  // namespace tandem::exported
