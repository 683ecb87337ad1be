#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "comm/shared_tensors.h"
#include "ddp/hook_runner.h"
#include "ddp/parameters.h"
#include "ddp/parts.h"
#include "ddp/reducer_factory.h"
#include "ddp/timed_backend.h"
#include "ddp/verify.h"
#include "tandem/error.h"

namespace tandem {
namespace {

constexpr std::size_t kBroadcastBytes = 250u << 20;  // at once, as in PyTorch
constexpr double kMiB = 1024.0 * 1024.0;

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

std::int64_t bytes_of(double megabytes, const char* name) {
  if (!(megabytes >= 0) || megabytes > 1e9) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string(name) + " is " + std::to_string(megabytes) + "; it must be 0 or more");
  }
  return static_cast<std::int64_t>(megabytes * kMiB);
}

void check_options(const DataParallelOptions& options) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); };
  const MixedPrecision& precision = options.mixed_precision;
  for (const auto& dtype : {precision.param_dtype, precision.reduce_dtype, precision.buffer_dtype}) {
    if (dtype && !at::isFloatingType(*dtype)) {
      refuse(std::string("mixed_precision takes floating-point dtypes, not ") + at::toString(*dtype));
    }
  }
  if (precision.param_dtype && options.find_unused_parameters) {
    refuse(
        "find_unused_parameters cannot see parameters that mixed_precision casts; leave param_dtype unset, or set "
        "static_graph instead of find_unused_parameters");
  }
  if (options.skip_all_reduce_unused_params && !options.find_unused_parameters) {
    refuse("skip_all_reduce_unused_params needs find_unused_parameters, which tells which parameters are unused");
  }
}

}  // namespace

void set_bucket_bytes(const DataParallelOptions& options, double bucket_cap_mb, std::int64_t* bytes,
                      std::int64_t* first_bytes) {
  *bytes = bytes_of(bucket_cap_mb, "bucket_cap_mb");
  *first_bytes = bytes_of(options.first_bucket_mb.value_or(bucket_cap_mb == 25 ? 1 : bucket_cap_mb), "first_bucket_mb");
}

DataParallelReducer::DataParallelReducer(std::shared_ptr<ProcessGroup> group, std::vector<at::Tensor> parameters,
                                         std::vector<std::string> names, std::vector<at::Tensor> buffers,
                                         const DataParallelOptions& options, std::vector<bool> sparse_gradients)
    : parts_(std::make_unique<Parts>()) {
  if (!group) throw Error(ErrorCode::kInvalidArgument, "DistributedDataParallel needs a process group");
  check_options(options);
  const std::size_t given = parameters.size();
  const ParameterList list = check_parameters({std::move(parameters), std::move(names), std::move(sparse_gradients)},
                                              options.parameters_to_ignore);
  Parts& parts = *parts_;
  parts.group = std::move(group);
  parts.options = options;
  parts.parameters = list.tensors;
  parts.buffers = check_buffers(std::move(buffers));

  ReducerArguments arguments;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    labels.push_back(called(list.names[i]));
    if (!list.tensors[i].requires_grad()) continue;
    arguments.names.emplace(parts.trained.size(), list.names[i]);
    parts.trained_names.push_back(list.names[i]);
    parts.trained.push_back(list.tensors[i]);
    parts.sparse_gradients.push_back(list.sparse_gradients[i]);
  }
  if (parts.trained.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "DistributedDataParallel got " + std::to_string(given) +
                    " parameters, none of which requires a gradient: there is nothing to train; a module without " +
                    "trainable parameters needs no DistributedDataParallel");
  }
  for (std::size_t i = 0; i < parts.buffers.size(); ++i) labels.push_back("buffer " + std::to_string(i));
  if (options.init_sync) {
    std::vector<at::Tensor> all = parts.parameters;
    all.insert(all.end(), parts.buffers.begin(), parts.buffers.end());
    verify_same_on_all_ranks(*parts.group, all, labels);
    parts.broadcast(all, 0);
  }

  arguments.parameters = parts.trained;
  arguments.sparse_gradients = parts.sparse_gradients;
  if (parts.device().is_cpu()) {
    // Outputs that a program keeps hold the timer, which is not to hold the group.
    parts.timer = std::make_shared<StepTimer>([weak = std::weak_ptr<ProcessGroup>(parts.group)] {
      if (const auto group = weak.lock()) group->barrier();
    });
    arguments.group = timed_group(*parts.group, parts.timer);
  } else {
    arguments.group = parts.group->native();
  }
  set_bucket_bytes(options, options.bucket_cap_mb, &arguments.bucket_bytes, &arguments.first_bucket_bytes);
  arguments.find_unused_parameters = options.find_unused_parameters;
  arguments.gradient_as_bucket_view = options.gradient_as_bucket_view;
  arguments.skip_all_reduce_unused_params = options.skip_all_reduce_unused_params;
  // Where buckets will be rebuilt in the order of gradients after the first step, that step has one for all.
  std::vector<std::size_t> limits = {static_cast<std::size_t>(arguments.first_bucket_bytes),
                                     static_cast<std::size_t>(arguments.bucket_bytes)};
  if (options.static_graph || !options.find_unused_parameters) limits = {std::numeric_limits<std::int64_t>::max()};
  arguments.buckets =
      std::get<0>(c10d::compute_bucket_assignment_by_size(arguments.parameters, limits, arguments.sparse_gradients));
  // Gradients come in about the reverse of the order in which parameters are defined.
  std::reverse(arguments.buckets.begin(), arguments.buckets.end());

  // Before the reducer, whose own hooks then come after.
  for (std::size_t i = 0; i < parts.trained.size(); ++i) {
    parts.watches.add(parts.trained[i], [&parts, i] { parts.refuse_double_backward(i); });
  }
  parts.arguments = std::make_unique<ReducerArguments>(std::move(arguments));
  parts.first_of_static = options.static_graph;
  parts.make_reducer();

  const MixedPrecision& precision = options.mixed_precision;
  if (precision.param_dtype) {
    parts.lowered = std::make_unique<LoweredParameters>(*precision.param_dtype, parts.parameters, parts.trained,
                                                        [&parts](std::size_t i) {
                                                          parts.refuse_double_backward(i);
                                                          parts.reducer->autograd_hook(i);
                                                        });
  }
  if (precision.buffer_dtype) cast_buffers(parts.buffers, *precision.buffer_dtype);
  if (parts.group->backend() == "none") parts.hook = noop_hook();
}

DataParallelReducer::~DataParallelReducer() {
  // Parameters may outlive this; their hooks must not.
  if (parts_->reducer) parts_->reducer->remove_autograd_hooks();
}

void DataParallelReducer::Parts::make_reducer() {
  if (reducer) reducer->remove_autograd_hooks();
  const SharedTensors buckets(*group);
  reducer = make_c10d_reducer(*arguments);
  logger = std::make_shared<c10d::Logger>(reducer);
  reducer->set_logger(logger);
  if (options.static_graph) reducer->set_static_graph();
  logger->set_construction_data_and_log("module", {}, -1, options.broadcast_buffers, false, options.static_graph);
  if (hook_is_set && hook) install_hook();
}

void DataParallelReducer::Parts::broadcast(const std::vector<at::Tensor>& tensors, int root) {
  if (tensors.empty()) return;
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> detached;
  for (const at::Tensor& tensor : tensors) detached.push_back(tensor.detach());
  c10d::broadcast_coalesced(group->native(), detached, kBroadcastBytes, root);
}

void DataParallelReducer::Parts::rebuild_buckets() {
  if (rebuilt || !reducer->should_rebuild_buckets()) return;
  const SharedTensors buckets(*group);
  try {
    rebuilt = reducer->rebuild_buckets();
  } catch (...) {
    rethrow_unfinished();
  }
}

void DataParallelReducer::Parts::set_hook() {
  if (hook_is_set) return;
  hook_is_set = true;
  const auto& reduce_dtype =
      options.mixed_precision.reduce_dtype ? options.mixed_precision.reduce_dtype : options.mixed_precision.param_dtype;
  if (!hook && reduce_dtype && !has_hook) hook = compress_wrapper(*reduce_dtype, allreduce_hook(group));
  if (optimizer) {
    hook = step_after(hook ? hook : allreduce_hook(group), optimizer, trained);
  }
  if (hook) install_hook();
}

void DataParallelReducer::Parts::install_hook() {
  if (optimizer) reducer->set_optimizer_in_backward();
  // LibTorch does not tell the last bucket in a static graph's first iteration, and leaves out unused ones.
  const bool overlaps = !options.static_graph && !options.skip_all_reduce_unused_params;
  reducer->register_comm_hook(std::make_unique<HookRunner>(hook, overlaps, timer));
}

bool DataParallelReducer::Parts::sends_buffers(bool training) const {
  return training && require_forward_sync && options.broadcast_buffers && !buffers.empty() && !pass->pending;
}

void DataParallelReducer::Parts::call_roll(bool training) {
  roll.reset();
  if (!joins && !options.average_by_samples) return;
  Announcement mine;
  mine.present = true;
  mine.records = at::GradMode::is_enabled();
  mine.sends_buffers = sends_buffers(training);
  mine.synchronizes = mine.records && require_backward_sync && !pass->pending;
  mine.first_of_static = first_of_static;
  mine.samples = samples;
  const bool counts = options.average_by_samples && mine.records;
  if (!mine.sends_buffers && !mine.synchronizes && !counts) return;
  roll = std::make_shared<RollCall>(*group, mine, device());
  if (!joins) return;
  const int present = roll->present();
  if (join.throw_on_early_termination && present < group->size()) {
    throw Error(ErrorCode::kAborted, "a rank is out of inputs, and join was told to end all ranks then");
  }
  if (mine.synchronizes && !join.divide_by_initial_world_size && !options.average_by_samples) {
    auto count = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    count->markCompleted(c10::IValue(std::vector<at::Tensor>{at::tensor(present)}));
    reducer->set_forward_pass_work_handle(c10d::Work::create_from_future(count), /*useStaticWorldSize=*/false);
  }
}

void DataParallelReducer::prepare_forward(bool training, std::int64_t samples) {
  Parts& parts = *parts_;
  if (samples < 0) {
    throw Error(ErrorCode::kInvalidArgument, "a batch has " + std::to_string(samples) + " samples; give 0 or more");
  }
  parts.samples = samples;
  const bool grad = at::GradMode::is_enabled();
  // Gradients that were summed up without an exchange wait in the reducer, which is not to be changed then.
  const bool is_between = parts.require_forward_sync && !parts.pass->pending && !parts.refused;
  if (parts.trial_options && grad && is_between) parts.advance_trial();
  const bool times = parts.timer && grad && parts.require_backward_sync;
  if (times) parts.timer->begin_forward(/*continues=*/parts.pass->pending && !parts.refused);
  if (std::exchange(parts.refused, false)) {
    // The reducer expects gradients still, also those of a backward in no_sync.
    parts.reducer->reset_state();
    parts.rebuilt = false;
    parts.pass->pending = false;
  }
  if (grad && parts.first_of_static) {
    if (parts.require_backward_sync && parts.accumulated_first) parts.make_reducer();
    parts.accumulated_first = !parts.require_backward_sync;
  }
  if (grad) parts.set_hook();
  if (grad && parts.require_backward_sync) {
    parts.logger->set_runtime_stats_and_log();
    parts.reducer->prepare_for_forward();
  }
  parts.call_roll(training);
  if (grad) parts.rebuild_buckets();
  if (parts.sends_buffers(training)) {
    parts.broadcast(parts.buffers, parts.joins ? parts.roll->lowest_present() : 0);
  }
  if (times) parts.timer->forward_exchanged();
  if (!parts.lowered) return;
  if (parts.lowered->lowered() && !parts.pass->pending) parts.lowered->restore();  // the last forward had no backward
  parts.lowered->lower();
}

// LibTorch's long message about parameters without gradient, as an error with their names.
void DataParallelReducer::Parts::rethrow_unfinished() {
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

void DataParallelReducer::Parts::refuse_double_backward(std::size_t parameter) {
  if (!armed || !at::GradMode::is_enabled()) return;
  refused = true;
  throw Error(ErrorCode::kUnsupported,
              "DistributedDataParallel cannot average gradients that are to be differentiated again (create_graph): "
              "backward came to parameter '" +
                  trained_names[parameter] +
                  "'; compute derivatives of the gradients with respect to inputs by grad(), or take such steps in "
                  "no_sync");
}

// Has the backward that comes to `output` begin as it must; gives what to use instead of it.
at::Tensor DataParallelReducer::Parts::watch_output(const at::Tensor& output) {
  // A hook on a leaf would stay for ever.
  const at::Tensor watched = output.is_leaf() ? output.view_as(output) : output;
  std::shared_ptr<RollCall> weights = options.average_by_samples ? roll : nullptr;
  const double mine = static_cast<double>(samples) * group->size();
  std::shared_ptr<std::once_flag> once;
  if (first_of_static) once = delay_once ? delay_once : (delay_once = std::make_shared<std::once_flag>());
  watched.register_hook(
      [pass = pass, times = require_backward_sync ? timer : nullptr, once, weak = std::weak_ptr<c10d::Reducer>(reducer),
       weights, mine](const at::Tensor& gradient) {
        if (pass->pending.exchange(false)) {
          if (times) times->begin_backward();
          const std::lock_guard<std::mutex> lock(pass->mutex);
          pass->outputs.clear();
        }
        if (once) {
          std::call_once(*once, [&] {
            torch::autograd::Engine::get_default_engine().queue_callback([weak] {
              if (const auto alive = weak.lock()) alive->delay_all_reduce();
            });
          });
        }
        if (!weights || !gradient.defined()) return gradient;
        // The reducer divides by the number of ranks.
        return gradient * (mine / static_cast<double>(std::max<std::int64_t>(weights->samples(), 1)));
      });
  return watched;
}

void DataParallelReducer::prepare_backward(std::vector<at::Tensor>& outputs) {
  Parts& parts = *parts_;
  const bool grad = at::GradMode::is_enabled();
  if (parts.timer && grad && parts.require_backward_sync) parts.timer->end_forward();
  if (!grad && parts.lowered && !parts.pass->pending) parts.lowered->restore();
  if (grad) {  // what one rank evaluates alone changes nothing that ranks do together
    parts.require_forward_sync = parts.require_backward_sync;
    parts.armed = parts.require_backward_sync;
  }
  if (!grad || (!parts.require_backward_sync && !parts.options.average_by_samples)) return;

  for (at::Tensor& output : outputs) {
    if (output.defined() && output.requires_grad()) output = parts.watch_output(output);
  }
  if (!parts.require_backward_sync) return;
  const bool search = parts.options.find_unused_parameters && !parts.options.static_graph;
  parts.first_of_static = false;
  std::vector<at::Tensor> searched;
  {
    const std::lock_guard<std::mutex> lock(parts.pass->mutex);
    for (const at::Tensor& output : outputs) {
      if (!output.defined() || !output.grad_fn()) continue;
      parts.pass->pending = true;
      if (!search) continue;
      parts.pass->outputs.emplace_back(WeakNodePointer(output.grad_fn()), output.output_nr());
    }
    // Of the forwards before this one that wait for the same backward, too.
    for (const auto& [weak, number] : parts.pass->outputs) {
      const NodePointer node = weak.lock();
      if (!node) continue;
      searched.push_back(at::empty({0}));
      torch::autograd::impl::set_gradient_edge(searched.back(), torch::autograd::Edge(node, number));
    }
  }
  ++parts.iterations;
  try {
    parts.reducer->prepare_for_backward(searched);
  } catch (...) {
    parts.rethrow_unfinished();
  }
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

void DataParallelReducer::register_comm_hook(CommHook hook) {
  Parts& parts = *parts_;
  const auto refuse = [](const char* why) {
    throw Error(ErrorCode::kInvalidArgument, std::string("register_comm_hook: ") + why);
  };
  if (!hook) refuse("the hook is empty");
  if (parts.has_hook) refuse("this DistributedDataParallel has a hook already; it takes one");
  if (parts.hook_is_set) refuse("the first forward is over; register a hook before it");
  if (parts.options.mixed_precision.reduce_dtype) {
    refuse("mixed_precision's reduce_dtype is a hook itself; leave it unset, or wrap the hook with compress_wrapper()");
  }
  parts.hook = std::move(hook);
  parts.has_hook = true;
}

void DataParallelReducer::register_comm_hook(std::unique_ptr<c10d::CommHookInterface> hook) {
  if (!hook) throw Error(ErrorCode::kInvalidArgument, "register_comm_hook: the hook is empty");
  // To be told what is wrong, before the reducer has it.
  register_comm_hook([](c10d::GradBucket& bucket) { return Exchange{{}, {}, bucket.getBuffer()}; });
  parts_->hook = nullptr;
  parts_->reducer->register_comm_hook(std::move(hook));
}

void DataParallelReducer::set_optimizer_in_backward(std::shared_ptr<optim::Optimizer> optimizer) {
  Parts& parts = *parts_;
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, "set_optimizer_in_backward: " + why);
  };
  if (!optimizer) refuse("the optimizer is empty");
  if (parts.hook_is_set || parts.optimizer) refuse("call it once, before the first forward");
  if (parts.has_hook && !parts.hook) refuse("a hook of LibTorch's interface cannot be followed by an optimizer");
  for (std::size_t i = 0; i < parts.trained.size(); ++i) {
    const auto& held = optimizer->parameters();
    if (std::none_of(held.begin(), held.end(), [&](const at::Tensor& p) { return p.is_same(parts.trained[i]); })) {
      refuse("the optimizer does not hold " + called(parts.trained_names[i]));
    }
  }
  parts.optimizer = std::move(optimizer);
}

const DataParallelOptions& DataParallelReducer::options() const {
  return parts_->options;
}

}  // namespace tandem
