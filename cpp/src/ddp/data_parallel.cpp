#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/nn/modules/embedding.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <sstream>
#include <unordered_set>

#include "ddp/no_exchange_hook.h"
#include "ddp/reducer_factory.h"
#include "ddp/verify.h"
#include "tandem/ddp.h"
#include "tandem/error.h"

namespace tandem {
namespace {

constexpr std::size_t kBroadcastBytes = 250u << 20;  // at once, as in PyTorch

// Drops what comes a second time, and its entries of the lists beside.
template <typename... Beside>
void drop_duplicates(std::vector<at::Tensor>& tensors, std::vector<Beside>&... beside) {
  std::unordered_set<const c10::TensorImpl*> seen;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!seen.insert(tensors[i].unsafeGetTensorImpl()).second) continue;
    tensors[kept] = tensors[i];
    ((beside[kept] = beside[i]), ...);
    ++kept;
  }
  tensors.resize(kept);
  (beside.resize(kept), ...);
}

std::string called(const std::string& name) {
  return "parameter '" + name + "'";
}

// All outputs through one node: a gradient for one of them is a gradient (undefined) for all, so that parameters that
// only lead to the others are reported to the reducer as unused.
struct Sink : torch::autograd::Function<Sink> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context, at::TensorList inputs) {
    context->set_materialize_grads(false);
    return inputs.vec();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return gradients;
  }
};

}  // namespace

struct DataParallelReducer::Parts {
  std::shared_ptr<ProcessGroup> group;
  DataParallelOptions options;
  std::vector<at::Tensor> trained;
  std::vector<std::string> trained_names;
  std::vector<at::Tensor> buffers;
  std::shared_ptr<c10d::Reducer> reducer;
  bool require_backward_sync = true;
  bool require_forward_sync = true;
  bool rebuilt = false;
  // The first backward of a static graph reduces at its end, where all gradients are known to be there.
  std::shared_ptr<std::once_flag> delay_once;

  void broadcast_from_first(const std::vector<at::Tensor>& tensors) {
    if (tensors.empty()) return;
    at::NoGradGuard no_grad;
    c10d::broadcast_coalesced(group->native(), tensors, kBroadcastBytes, 0);
  }

  void delay_first_reduction(const std::vector<at::Tensor>& outputs) {
    if (!delay_once) delay_once = std::make_shared<std::once_flag>();
    for (const at::Tensor& output : outputs) {
      if (!output.requires_grad()) continue;
      output.register_hook([once = delay_once, weak = std::weak_ptr<c10d::Reducer>(reducer)](const at::Tensor&) {
        std::call_once(*once, [&] {
          torch::autograd::Engine::get_default_engine().queue_callback([weak] {
            if (const auto alive = weak.lock()) alive->delay_all_reduce();
          });
        });
      });
    }
  }

  // LibTorch's long message about parameters without gradient, as an error with their names.
  [[noreturn]] void rethrow_unfinished() {
    try {
      throw;
    } catch (const Error&) {
      throw;
    } catch (const c10::Error& error) {
      const std::string text = error.what_without_backtrace();
      if (text.find("finished reduction in the prior iteration") == std::string::npos) throw;
      std::string missing;
      const std::string mark = "did not receive grad for rank " + std::to_string(group->rank()) + ":";
      const auto at = text.find(mark);
      std::istringstream numbers(at == std::string::npos ? "" : text.substr(at + mark.size()));
      for (std::size_t index; numbers >> index;) {
        if (index < trained_names.size()) missing += (missing.empty() ? "" : ", ") + trained_names[index];
      }
      throw Error(ErrorCode::kInvalidArgument,
                  "the backward before this forward gave no gradient to " +
                      (missing.empty() ? std::string("some parameters") : missing) +
                      "; set find_unused_parameters when a step may leave parameters out, make sure that the loss "
                      "comes from this module's outputs, and call backward between two forwards");
    }
  }
};

DataParallelReducer::DataParallelReducer(std::shared_ptr<ProcessGroup> group, std::vector<at::Tensor> parameters,
                                         std::vector<std::string> names, std::vector<at::Tensor> buffers,
                                         const DataParallelOptions& options, std::vector<bool> sparse_gradients)
    : parts_(std::make_unique<Parts>()) {
  if (!group) throw Error(ErrorCode::kInvalidArgument, "DistributedDataParallel needs a process group");
  if (!(options.bucket_cap_mb > 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "bucket_cap_mb is " + std::to_string(options.bucket_cap_mb) + "; it must be more than 0");
  }
  if (names.empty()) {
    for (std::size_t i = 0; i < parameters.size(); ++i) names.push_back(std::to_string(i));
  }
  if (names.size() != parameters.size()) {
    throw Error(ErrorCode::kInvalidArgument, "got " + std::to_string(names.size()) + " names for " +
                                                 std::to_string(parameters.size()) + " parameters");
  }
  sparse_gradients.resize(parameters.size(), false);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].defined()) throw Error(ErrorCode::kInvalidArgument, called(names[i]) + " is undefined");
    if (parameters[i].requires_grad() && !parameters[i].is_leaf()) {
      throw Error(ErrorCode::kInvalidArgument,
                  called(names[i]) + " is the result of an operation; give the leaf tensor");
    }
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].defined())
      throw Error(ErrorCode::kInvalidArgument, "buffer " + std::to_string(i) + " is undefined");
  }
  drop_duplicates(parameters, names, sparse_gradients);
  drop_duplicates(buffers);

  ReducerArguments arguments;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    labels.push_back(called(names[i]));
    if (!parameters[i].requires_grad()) continue;
    arguments.names.emplace(arguments.parameters.size(), names[i]);
    parts_->trained_names.push_back(names[i]);
    arguments.parameters.push_back(parameters[i]);
    arguments.sparse_gradients.push_back(sparse_gradients[i]);
  }
  if (arguments.parameters.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "DistributedDataParallel got " + std::to_string(parameters.size()) +
                    " parameters, none of which requires a gradient: there is nothing to train; a module without " +
                    "trainable parameters needs no DistributedDataParallel");
  }

  std::vector<at::Tensor> states;
  for (const at::Tensor& parameter : parameters) states.push_back(parameter.detach());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    states.push_back(buffers[i].detach());
    labels.push_back("buffer " + std::to_string(i));
  }
  if (options.init_sync) {
    std::vector<at::Tensor> all = parameters;
    all.insert(all.end(), buffers.begin(), buffers.end());
    verify_same_on_all_ranks(*group, all, labels);
  }

  parts_->group = std::move(group);
  parts_->options = options;
  parts_->trained = arguments.parameters;
  for (const at::Tensor& buffer : buffers) parts_->buffers.push_back(buffer.detach());
  if (options.init_sync) parts_->broadcast_from_first(states);

  arguments.group = parts_->group->native();
  arguments.bucket_bytes = static_cast<std::int64_t>(options.bucket_cap_mb * 1024 * 1024);
  arguments.find_unused_parameters = options.find_unused_parameters;
  arguments.gradient_as_bucket_view = options.gradient_as_bucket_view;
  // Where buckets will be rebuilt in the order of gradients after the first step, that step has one for all.
  std::vector<std::size_t> limits = {static_cast<std::size_t>(arguments.first_bucket_bytes),
                                     static_cast<std::size_t>(arguments.bucket_bytes)};
  if (options.static_graph || !options.find_unused_parameters) limits = {std::numeric_limits<std::int64_t>::max()};
  arguments.buckets =
      std::get<0>(c10d::compute_bucket_assignment_by_size(arguments.parameters, limits, arguments.sparse_gradients));
  // Gradients come in about the reverse of the order in which parameters are defined.
  std::reverse(arguments.buckets.begin(), arguments.buckets.end());
  parts_->reducer = make_c10d_reducer(std::move(arguments));
  if (options.static_graph) parts_->reducer->set_static_graph();
  if (parts_->group->backend() == "none") parts_->reducer->register_comm_hook(make_no_exchange_hook());
}

DataParallelReducer::~DataParallelReducer() {
  // Parameters may outlive this; their hooks must not.
  if (parts_->reducer) parts_->reducer->remove_autograd_hooks();
}

void DataParallelReducer::prepare_forward(bool training) {
  Parts& parts = *parts_;
  const bool grad = at::GradMode::is_enabled();
  if (grad && parts.require_backward_sync) parts.reducer->prepare_for_forward();
  if (grad && !parts.rebuilt && parts.reducer->should_rebuild_buckets()) {
    try {
      parts.rebuilt = parts.reducer->rebuild_buckets();
    } catch (...) {
      parts.rethrow_unfinished();
    }
  }
  if (training && parts.require_forward_sync && parts.options.broadcast_buffers) {
    parts.broadcast_from_first(parts.buffers);
  }
}

void DataParallelReducer::prepare_backward(std::vector<at::Tensor>& outputs) {
  Parts& parts = *parts_;
  parts.require_forward_sync = at::GradMode::is_enabled() && parts.require_backward_sync;
  if (!parts.require_forward_sync) return;
  const bool search = parts.options.find_unused_parameters && !parts.options.static_graph;
  try {
    parts.reducer->prepare_for_backward(search ? outputs : std::vector<at::Tensor>());
  } catch (...) {
    parts.rethrow_unfinished();
  }
  if (parts.options.static_graph && !parts.delay_once) parts.delay_first_reduction(outputs);
  if (!search) return;

  std::vector<std::size_t> places;
  torch::autograd::variable_list through;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].grad_fn()) continue;
    places.push_back(i);
    through.push_back(outputs[i]);
  }
  if (through.size() < 2) return;  // a single output is what the loss comes from
  through = Sink::apply(at::TensorList(through));
  for (std::size_t i = 0; i < places.size(); ++i) outputs[places[i]] = through[i];
}

void DataParallelReducer::set_require_backward_grad_sync(bool on) {
  parts_->require_backward_sync = on;
}
bool DataParallelReducer::require_backward_grad_sync() const {
  return parts_->require_backward_sync;
}

namespace internal {

std::vector<bool> sparse_gradients_of(const torch::nn::Module& module) {
  std::unordered_set<const c10::TensorImpl*> sparse;
  for (const auto& part : module.modules()) {
    if (const auto* embedding = part->as<torch::nn::Embedding>()) {
      if (embedding->options.sparse()) sparse.insert(embedding->weight.unsafeGetTensorImpl());
    } else if (const auto* bag = part->as<torch::nn::EmbeddingBag>()) {
      if (bag->options.sparse()) sparse.insert(bag->weight.unsafeGetTensorImpl());
    }
  }
  std::vector<bool> flags;
  for (const auto& parameter : module.parameters()) flags.push_back(sparse.count(parameter.unsafeGetTensorImpl()) > 0);
  return flags;
}

std::unique_ptr<DataParallelReducer> make_reducer(std::shared_ptr<ProcessGroup> group, const torch::nn::Module& module,
                                                  const DataParallelOptions& options) {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;
  for (const auto& item : module.named_parameters()) {
    names.push_back(item.key());
    parameters.push_back(item.value());
  }
  return std::make_unique<DataParallelReducer>(std::move(group), std::move(parameters), std::move(names),
                                               module.buffers(), options, sparse_gradients_of(module));
}

}  // namespace internal
}  // namespace tandem
