#include "exported/compiled/compiled.h"

#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/forward_grad.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

namespace tandem::exported {
namespace {

std::size_t calls_at_once() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 64);
}

std::string shown_layout(at::ScalarType dtype, at::IntArrayRef sizes) {
  std::string text = std::string(at::toString(dtype)) + "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  return text + "]";
}

// Steps over dimensions of one element are taken by nobody.
bool has_strides(const at::Tensor& tensor, at::IntArrayRef strides) {
  if (tensor.numel() == 0) return true;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) != 1 && tensor.stride(i) != strides[static_cast<std::size_t>(i)]) return false;
  }
  return true;
}

// Whether elements of a tensor with these strides may share memory.
bool may_overlap(at::IntArrayRef sizes, at::IntArrayRef strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and size
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) steps.emplace_back(strides[i], sizes[i]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reached = 0;  // by the dimensions so far
  for (const auto& [stride, size] : steps) {
    if (stride <= reached) return true;
    reached += stride * (size - 1);
  }
  return false;
}

// Autograd then knows that what it kept of it is old.
void note_change(const at::Tensor& tensor) {
  if (!tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
}

bool is_plain(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.layout() == at::kStrided && tensor.has_storage() && !tensor.is_nested() &&
         !tensor.is_quantized() && !at::isTensorSubclassLike(tensor);
}

// What makes operators do more than compute, or other than without it.
bool in_another_mode() {
  return at::autocast::is_autocast_enabled(at::kCPU) || torch::jit::tracer::isTracing() ||
         torch::autograd::ForwardADLevel::try_get_by_idx(0) || c10::impl::dispatch_mode_enabled();
}

std::optional<std::int64_t> value_of(const Size& size, const Symbols& symbols) {
  return size.expression ? size.expression->evaluate(symbols) : std::optional(size.number);
}

std::optional<std::vector<std::int64_t>> values_of(const std::vector<Size>& sizes, const Symbols& symbols) {
  std::vector<std::int64_t> values;
  for (const Size& size : sizes) {
    const auto value = value_of(size, symbols);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

// AOTInductor writes these into its code rather than among the constants, unless it is told not to.
bool is_inlined(const at::Tensor& tensor) {
  return tensor.dim() == 0 || (tensor.dim() == 1 && tensor.size(0) <= 8);
}

std::string structure_of(const std::string& specification, const std::string& where) {
  return Tree::parse(specification, where).structure();
}

}  // namespace

Compiled::Compiled(std::shared_ptr<const Package> package, const std::vector<std::shared_ptr<const Program>>& programs,
                   std::size_t preferred, bool is_known, const Find& find)
    : package_(std::move(package)),
      runner_(Runner::load(*package_, calls_at_once())),
      free_(static_cast<std::ptrdiff_t>(calls_at_once())) {
  std::vector<std::string> call_spec;
  std::vector<Runner::Constant> constants;
  std::unordered_map<std::string, at::Tensor> values;
  try {
    call_spec = runner_->get_call_spec();
    constants = runner_->constants();
    values = runner_->extract_constants_map(false);
  } catch (const c10::Error& error) {
    fail(error.what_without_backtrace());
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
  for (const Runner::Constant& constant : constants) {
    if (constant.is_folded) {
      unsupported(package_->name(), "computes '" + constant.name.substr(0, 200) +
                                        "' from parameters once, when it is loaded, which training would not change; "
                                        "compile without aot_inductor.use_runtime_constant_folding");
    }
    if (!values.count(constant.in_model)) {
      unsupported(package_->name(), "has no tensor for its constant '" + constant.name.substr(0, 200) +
                                        "'; compile with aot_inductor.package_constants_in_so");
    }
  }
  std::string all;
  for (std::size_t which = 0; which < programs.size(); ++which) {
    const std::size_t i = (preferred + which) % programs.size();
    CallLayout layout = CallLayout::of(*programs[i]);
    const std::string different =
        is_known ? "" : differences(*programs[i], i, layout, call_spec, constants, values, find);
    if (different.empty()) {
      program_ = i;
      layout_ = std::move(layout);
      if (!is_known) check_baked(layout_, i, find);
      changes_in_place_ = programs[i]->changes_in_place();
      changes_buffers_ = changes_in_place_ || programs[i]->writes_state() || programs[i]->mode() == ExportedMode::kTraining ||
                         programs[i]->mode() == ExportedMode::kMixed;
      bind(*programs[i], constants, values, find);
      return;
    }
    all += (all.empty() ? "" : "; ") + programs[i]->archive()->name() + ": " + different;
  }
  throw Error(ErrorCode::kInvalidArgument, package_->name() + " was compiled from another program (" + all + ")");
}

// "" where the code may be that of the program.
std::string Compiled::differences(const Program& program, std::size_t index, const CallLayout& layout,
                                  const std::vector<std::string>& call_spec,
                                  const std::vector<Runner::Constant>& constants,
                                  const std::unordered_map<std::string, at::Tensor>& values, const Find& find) const {
  std::string result;
  const auto note = [&](const std::string& what) { result += (result.empty() ? "" : ", ") + what; };
  const auto compare = [&](const std::string& of_package, const std::string& of_program, const char* what) {
    if (of_package != of_program) note("it " + std::string(what) + " " + of_package + " and not " + of_program);
  };
  const std::string where = package_->name() + ": call specification";
  if (call_spec.size() != 2) damaged(where, "is no pair");
  compare(structure_of(call_spec[0], where), program.takes(), "takes");
  compare(structure_of(call_spec[1], where), program.gives(), "gives");
  compare(std::to_string(runner_->inputs()), std::to_string(layout.inputs.size()), "takes the number of tensors");
  compare(std::to_string(runner_->outputs()), std::to_string(layout.outputs.size()), "gives the number of values");
  std::vector<at::Tensor> read;
  for (const std::string& name : layout.reads) read.push_back(find(index, name));
  std::set<std::string> in_model;
  for (const Runner::Constant& constant : constants) {
    const at::Tensor tensor = find(index, constant.in_model), &compiled = values.at(constant.in_model);
    in_model.insert(constant.in_model);
    if (!tensor.defined()) {
      if (constant.is_state) note("only it has '" + constant.in_model + "'");
    } else if (constant.is_state && std::none_of(read.begin(), read.end(), [&](auto& one) { return one.is_same(tensor); })) {
      note("only it reads '" + constant.in_model + "'");
    } else if (tensor.sizes() != compiled.sizes() || tensor.scalar_type() != compiled.scalar_type()) {
      note("its '" + constant.in_model + "' is " + shown_layout(compiled.scalar_type(), compiled.sizes()) + " and not " +
           shown_layout(tensor.scalar_type(), tensor.sizes()));
    }
  }
  for (const std::string& name : layout.reads) {
    const at::Tensor tensor = find(index, name);
    const bool is_there = in_model.count(name) || std::any_of(in_model.begin(), in_model.end(), [&](const auto& other) {
                            return find(index, other).is_same(tensor);  // tied
                          });
    if (!is_there && !is_inlined(tensor)) note("it has no '" + name + "'");
  }
  return result;
}

// Parameters and buffers whose values the code itself has.
void Compiled::check_baked(const CallLayout& layout, std::size_t index, const Find& find) const {
  std::vector<at::Tensor> known;
  for (const Runner::Constant& constant : runner_->constants()) known.push_back(find(index, constant.in_model));
  std::string baked;
  for (const std::string& name : layout.reads) {
    const at::Tensor tensor = find(index, name);
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.is_same(tensor); });
    if (!is_known) baked += (baked.empty() ? "" : ", ") + name;
  }
  if (baked.empty()) return;
  unsupported(package_->name(), "has the values of small tensors in its code, where neither training nor loading weights "
                                "would change them (" + baked + "); compile it with " + kSharedWeights);
}

void Compiled::bind(const Program& program, const std::vector<Runner::Constant>& constants,
                    const std::unordered_map<std::string, at::Tensor>& values, const Find& find) {
  for (const Runner::Constant& constant : constants) {
    const at::Tensor tensor = find(program_, constant.in_model);
    if (!tensor.defined()) {
      has_own_constants_ = true;
      continue;
    }
    Binding made{constant.name, nullptr, false, tensor, values.at(constant.in_model)};
    for (const InputBinding& input : program.signature().inputs) {
      if (input.name != constant.in_model || input.kind != InputBinding::Kind::kBuffer) continue;
      made.is_buffer = true;
      if (!input.persistent) made.look_up = &input;
    }
    // The shape alone is of use, and the memory that it has goes with the package's own weights.
    made.compiled = at::empty_strided(made.compiled.sizes(), made.compiled.strides(),
                                      made.compiled.options().device(at::kMeta).requires_grad(false));
    bindings_.push_back(std::move(made));
  }
}

at::Tensor Compiled::present(const Binding& binding, const Tensors& tensors) const {
  return binding.look_up ? tensors.at(*binding.look_up) : binding.tensor;
}

bool Compiled::takes_over(const Program::Call& call, const Tensors& tensors) const {
  if (in_another_mode()) return false;
  const bool with_gradients = at::GradMode::is_enabled();
  for (const Binding& binding : bindings_) {
    const at::Tensor tensor = present(binding, tensors);
    if ((with_gradients && tensor.requires_grad()) || !is_plain(tensor)) return false;
    if (tensor.scalar_type() != binding.compiled.scalar_type() || tensor.sizes() != binding.compiled.sizes() ||
        !has_strides(tensor, binding.compiled.strides())) {
      return false;
    }
  }
  for (const CallLayout::Input& input : layout_.inputs) {
    const at::Tensor& tensor = call.inputs[input.index].toTensor();
    if ((with_gradients && tensor.requires_grad()) || !is_plain(tensor)) return false;
    // Operators refuse some tensors without elements, and compiled code none.
    if (tensor.scalar_type() != input.layout.dtype || tensor.numel() == 0) return false;
    const auto strides = values_of(input.layout.strides, call.symbols);
    if (!strides) return false;
    if (has_strides(tensor, *strides) && !tensor.is_conj() && !tensor.is_neg()) continue;
    // A copy of an input would be changed in its place; one with overlapping elements cannot be made.
    if (changes_in_place_ || may_overlap(tensor.sizes(), *strides)) return false;
  }
  return !changes_in_place_ || !shares_memory(call, tensors);
}

// Compiled code reads all before it writes, and a graph in the order of its operators.
bool Compiled::shares_memory(const Program::Call& call, const Tensors& tensors) const {
  std::set<const void*> known;
  for (const Binding& binding : bindings_) known.insert(present(binding, tensors).storage().unsafeGetStorageImpl());
  for (const CallLayout::Input& input : layout_.inputs) {
    if (!known.insert(call.inputs[input.index].toTensor().storage().unsafeGetStorageImpl()).second) return true;
  }
  return false;
}

std::vector<at::IValue> Compiled::run(const Program::Call& call, const Tensors& tensors) const {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> inputs = inputs_of(call);
  free_.acquire();
  const auto release = std::unique_ptr<std::counting_semaphore<>, void (*)(std::counting_semaphore<>*)>(
      &free_, [](std::counting_semaphore<>* held) { held->release(); });
  std::shared_lock<std::shared_mutex> running(pointing_);
  std::vector<at::Tensor> given;
  try {
    while (!points_to_present(tensors)) {
      running.unlock();
      {
        const std::unique_lock<std::shared_mutex> alone(pointing_);
        if (!points_to_present(tensors)) point_to_present(tensors);
      }
      running.lock();
    }
    given = runner_->run(inputs);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    fail(error.what_without_backtrace());
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
  // Which of them it has changed is not known.
  if (changes_in_place_) std::for_each(inputs.begin(), inputs.end(), note_change);
  for (const Binding& binding : bindings_) {
    if (changes_buffers_ && binding.is_buffer) note_change(present(binding, tensors));
  }
  return outputs_of(std::move(given), call.symbols);
}

bool Compiled::points_to_present(const Tensors& tensors) const {
  if (addresses_.size() != bindings_.size()) return bindings_.empty();
  for (std::size_t i = 0; i < bindings_.size(); ++i) {
    if (present(bindings_[i], tensors).const_data_ptr() != addresses_[i]) return false;
  }
  return true;
}

void Compiled::point_to_present(const Tensors& tensors) const {
  const bool is_first = addresses_.empty();
  addresses_.clear();
  std::vector<at::Tensor> now;
  torch::inductor::TensorConstantMap by_name;
  for (const Binding& binding : bindings_) now.push_back(present(binding, tensors).detach());
  for (std::size_t i = 0; i < now.size(); ++i) by_name.emplace(bindings_[i].name, &now[i]);
  if (is_first && !has_own_constants_) {
    // Its own weights are of no more use.
    runner_->update_constant_buffer(by_name, true, false, true);
    runner_->swap_constant_buffer();
    runner_->free_inactive_constant_buffer();
  } else {
    runner_->update_constant_buffer(by_name, false, false, true);
  }
  pointed_to_.swap(now);  // whose elements stay where they are
  let_go(now);
  for (const at::Tensor& tensor : pointed_to_) addresses_.push_back(tensor.const_data_ptr());
}

// Code that was compiled by LibTorch 2.11 never frees the tensors that it was given. They are others than the model's, with the
// same elements, and are emptied here.
void Compiled::let_go(const std::vector<at::Tensor>& tensors) {
  for (at::Tensor tensor : tensors) tensor.set_data(at::empty({0}, tensor.options()));
}

Compiled::~Compiled() {
  runner_.reset();
  try {
    let_go(pointed_to_);
  } catch (const std::exception&) {  // no memory: they stay
  }
}

std::vector<at::Tensor> Compiled::inputs_of(const Program::Call& call) const {
  std::vector<at::Tensor> result;
  for (const CallLayout::Input& input : layout_.inputs) {
    const at::Tensor& tensor = call.inputs[input.index].toTensor();
    const auto strides = values_of(input.layout.strides, call.symbols);
    const bool fits = has_strides(tensor, *strides) && !tensor.is_conj() && !tensor.is_neg();
    result.push_back(fits ? tensor : at::empty_strided(tensor.sizes(), *strides, tensor.options()).copy_(tensor));
  }
  return result;
}

std::vector<at::IValue> Compiled::outputs_of(std::vector<at::Tensor> given, const Symbols& symbols) const {
  using Kind = CallLayout::Output::Kind;
  const auto refuse = [&](std::size_t i, const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, package_->name() + " gives " + what + " for output " + std::to_string(i) +
                                                 ", which its program does not: it was compiled from another one");
  };
  if (given.size() != layout_.outputs.size()) refuse(given.size(), "another number of values");
  std::vector<at::IValue> result;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const CallLayout::Output& output = layout_.outputs[i];
    if (output.kind == Kind::kFixed) {
      result.push_back(output.fixed);
      continue;
    }
    if (!given[i].defined()) refuse(i, "nothing");
    if (output.kind == Kind::kTensor) {
      const auto sizes = values_of(output.layout.sizes, symbols);
      if (given[i].scalar_type() != output.layout.dtype || (sizes && given[i].sizes() != *sizes)) {
        refuse(i, shown_layout(given[i].scalar_type(), given[i].sizes()));
      }
      result.push_back(std::move(given[i]));
      continue;
    }
    if (given[i].numel() != 1) refuse(i, shown_layout(given[i].scalar_type(), given[i].sizes()));
    const at::Scalar number = given[i].item();
    if (output.kind == Kind::kInt) result.push_back(number.toLong());
    if (output.kind == Kind::kDouble) result.push_back(number.toDouble());
    if (output.kind == Kind::kBool) result.push_back(number.toBool());
  }
  return result;
}

void Compiled::fail(const std::string& why) const {
  throw Error(ErrorCode::kLibrary, package_->name() + ": the compiled code failed; AOTInductor's wrote the cause to standard "
                                                      "error (" + why + ")");
}

}  // namespace tandem::exported
