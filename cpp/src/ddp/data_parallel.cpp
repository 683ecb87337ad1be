#include <algorithm>
#include <cmath>
#include <limits>

#include "comm/shared_tensors.h"
#include "comm/traits_for_cpu.h"
#include "ddp/gradients/average_hook.h"
#include "ddp/hook_runner.h"
#include "ddp/parameters.h"
#include "ddp/parts.h"
#include "ddp/reducer_factory.h"
#include "ddp/timed_backend.h"
#include "ddp/verify.h"
#include "tandem/error.h"
#include "tandem/resident.h"

namespace tandem {
namespace {

constexpr std::size_t kBroadcastBytes = 250u << 20;  // at once, as in PyTorch
constexpr double kMiB = 1024.0 * 1024.0;

// LibTorch's reducer owns its hook, and may be made anew.
class SharedHook final : public c10d::CommHookInterface {
 public:
  explicit SharedHook(std::shared_ptr<c10d::CommHookInterface> hook) : hook_(std::move(hook)) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override { return hook_->runHook(bucket); }
  at::Tensor parseHookResult(const c10::IValue& result) override { return hook_->parseHookResult(result); }

 private:
  const std::shared_ptr<c10d::CommHookInterface> hook_;
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
  parts.buffers = check_buffers(buffers);
  parts.given_buffers = std::move(buffers);

  ReducerArguments arguments;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    labels.push_back(called(list.names[i]));
    if (!list.tensors[i].requires_grad()) {
      parts.frozen.emplace_back(list.tensors[i], list.names[i]);
      continue;
    }
    parts.numbers.emplace(list.tensors[i].unsafeGetTensorImpl(), parts.trained.size());
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
  std::vector<at::Tensor> all = parts.parameters;
  if (options.broadcast_buffers) {
    all.insert(all.end(), parts.buffers.begin(), parts.buffers.end());
    for (std::size_t i = 0; i < parts.buffers.size(); ++i) labels.push_back("buffer " + std::to_string(i));
  }
  const std::string complaint = not_exchanged(*parts.group, all, labels);
  if (!options.init_sync && !complaint.empty()) throw Error(ErrorCode::kInvalidArgument, complaint);
  if (options.init_sync) {
    verify_same_on_all_ranks(*parts.group, all, labels, complaint);
    parts.broadcast(all, 0);
  }

  for (const at::Tensor& parameter : parts.trained) {
    parts.devices.push_back(parameter.device());
    parts.is_multi_device |= parameter.device() != parts.device();
  }
  arguments.parameters = parts.trained;
  arguments.sparse_gradients = parts.sparse_gradients;
  if (parts.device().is_cpu() && !parts.is_multi_device) {
    // Outputs that a program keeps hold the timer, which is not to hold the group.
    parts.timer = std::make_shared<StepTimer>([weak = std::weak_ptr<ProcessGroup>(parts.group)] {
      if (const auto group = weak.lock()) group->barrier();
    });
    arguments.group = timed_group(*parts.group, parts.timer);
  } else {
    arguments.group = parts.group->native();
  }
  const bool any_sparse = std::ranges::any_of(parts.sparse_gradients, [](bool one) { return one; });
  // Sums of float16 may be too large for it where hosts exchange them.
  const bool any_half = std::ranges::any_of(parts.trained, [](const at::Tensor& p) { return p.scalar_type() == at::kHalf; });
  parts.averages_itself = parts.timer && parts.group->backend() != "none" && traits_for_cpu(*parts.group).averages &&
                          !options.skip_all_reduce_unused_params && !any_sparse && !any_half;
  if (parts.timer && options.gradient_as_bucket_view && !options.mixed_precision.param_dtype) {
    parts.places = GradientPlaces::make(parts.trained);
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
    parts.watches.add(parts.trained[i], [&parts, i] { parts.gradient_came(i); });
  }
  parts.used.assign(parts.trained.size(), 0);
  if (options.average_by_samples) parts.weigh_gradients();
  parts.arguments = std::make_unique<ReducerArguments>(std::move(arguments));
  parts.first_of_static = options.static_graph;
  parts.make_reducer();

  const MixedPrecision& precision = options.mixed_precision;
  if (precision.param_dtype) {
    parts.lowered = std::make_unique<LoweredParameters>(*precision.param_dtype, parts.parameters, parts.trained,
                                                        [&parts](std::size_t i) {
                                                          parts.gradient_came(i);
                                                          parts.reducer->autograd_hook(i);
                                                        });
  }
  if (precision.buffer_dtype) cast_buffers(parts.buffers, *precision.buffer_dtype);
  if (parts.group->backend() == "none") parts.hook = noop_hook();
  empty_tensor_cache();  // of what was read, and of all parameters side by side
}

DataParallelReducer::~DataParallelReducer() {
  // Parameters may outlive this; their hooks must not.
  if (parts_->reducer) parts_->reducer->remove_autograd_hooks();
  for (const auto& [parameter, hook] : parts_->weight_hooks) parameter.remove_hook(hook);
  if (parts_->places) parts_->places->forget();
}

void DataParallelReducer::Parts::make_reducer() {
  if (reducer) reducer->remove_autograd_hooks();
  if (places) places->forget();
  const SharedTensors buckets(*group);
  const int told = reducer ? averaged_over.load() : group->size();
  reducer = make_c10d_reducer(*arguments);
  averaged_over = group->size();
  average_over(told);
  logger = std::make_shared<c10d::Logger>(reducer);
  reducer->set_logger(logger);
  if (statistics_rate > 0) reducer->set_ddp_runtime_logging_sample_rate(statistics_rate);
  if (options.static_graph) reducer->set_static_graph();
  logger->set_construction_data_and_log("module", {}, -1, options.broadcast_buffers, false, options.static_graph);
  static_prepared = false;
  static_begun.reset();
  if (native_hook) {
    reducer->register_comm_hook(std::make_unique<SharedHook>(native_hook));
  } else if (hook_is_set) {
    install_hook();
  }
}

void DataParallelReducer::Parts::make_reducer_anew() {
  make_reducer();
  rebuilt = false;
  first_of_static = options.static_graph;
  accumulated_first = false;
}

void DataParallelReducer::Parts::weigh_gradients() {
  weights = std::make_shared<SampleWeights>(group->rank(), group->size());
  for (const at::Tensor& parameter : trained) {
    const unsigned hook =
        parameter.register_hook([weights = weights](const at::Tensor& gradient) { return weights->weigh(gradient); });
    weight_hooks.emplace_back(parameter, hook);
  }
}

// Autograd has added to a parameter's gradient.
void DataParallelReducer::Parts::gradient_came(std::size_t parameter) {
  at::Tensor& gradient = trained[parameter].mutable_grad();
  if (gradient.defined()) {
    used[parameter] = 1;
    // The reducer, or a hook, divides it in place. Its values may be those that backward hands on elsewhere, too, as
    // where an embedding's output is added to something.
    if (gradient.is_sparse() && !at::GradMode::is_enabled()) {
      gradient = at::_sparse_coo_tensor_unsafe(gradient._indices(), gradient._values().clone(), gradient.sizes(),
                                               gradient.options(), gradient.is_coalesced());
    }
  }
  if (!armed) return;
  if (first_of_static && !(static_begun && *static_begun)) bypassed = true;
  if (!at::GradMode::is_enabled()) return;
  refused = true;
  throw Error(ErrorCode::kUnsupported,
              "DistributedDataParallel cannot average gradients that are to be differentiated again (create_graph): "
              "backward came to parameter '" +
                  trained_names[parameter] +
                  "'; compute derivatives of the gradients with respect to inputs by grad(), or take such steps in "
                  "no_sync");
}

void DataParallelReducer::Parts::broadcast(const std::vector<at::Tensor>& tensors, int root) {
  if (tensors.empty()) return;
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> detached;
  for (const at::Tensor& tensor : tensors) detached.push_back(tensor.detach());
  c10d::broadcast_coalesced(group->native(), detached, kBroadcastBytes, root);
}

void DataParallelReducer::Parts::set_hook() {
  if (hook_is_set) return;
  hook_is_set = true;
  const auto& reduce_dtype =
      options.mixed_precision.reduce_dtype ? options.mixed_precision.reduce_dtype : options.mixed_precision.param_dtype;
  if (!hook && reduce_dtype && !has_hook) hook = compress_wrapper(*reduce_dtype, allreduce_hook(group));
  if (in_backward) hook = in_backward->after(hook ? hook : allreduce_hook(group));
  install_hook();
}

void DataParallelReducer::Parts::install_hook() {
  if (!hook) {
    if (!averages_itself || native_hook) return;
    const auto ranks = [this] { return averaged_over.load(); };
    reducer->register_comm_hook(std::make_unique<AverageHook>(arguments->group, ranks));
    return;
  }
  if (in_backward) reducer->set_optimizer_in_backward();
  // LibTorch does not tell the last bucket in a static graph's first iteration, and leaves out unused ones.
  const bool overlaps = !options.static_graph && !options.skip_all_reduce_unused_params;
  reducer->register_comm_hook(std::make_unique<HookRunner>(hook, overlaps, timer));
}

void DataParallelReducer::set_require_backward_grad_sync(bool on) {
  parts_->require_backward_sync = on;
}
std::optional<std::int64_t> DataParallelReducer::batch_samples() const {
  return parts_->batch_samples;
}

bool DataParallelReducer::average_by_samples() const {
  return parts_->options.average_by_samples;
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
  parts_->native_hook = std::move(hook);
  parts_->reducer->register_comm_hook(std::make_unique<SharedHook>(parts_->native_hook));
}

void DataParallelReducer::set_optimizer_in_backward(std::shared_ptr<optim::Optimizer> optimizer) {
  Parts& parts = *parts_;
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, "set_optimizer_in_backward: " + why);
  };
  if (!optimizer) refuse("the optimizer is empty");
  if (parts.hook_is_set || parts.in_backward) refuse("call it once, before the first forward");
  if (parts.has_hook && !parts.hook) refuse("a hook of LibTorch's interface cannot be followed by an optimizer");
  // Backward has a thread for each device, and stepping one bucket's parameters hides the others' gradients meanwhile.
  if (parts.is_multi_device) refuse("it is not there for parameters on several devices; call step() after backward");
  for (std::size_t i = 0; i < parts.trained.size(); ++i) {
    const auto& held = optimizer->parameters();
    if (std::none_of(held.begin(), held.end(), [&](const at::Tensor& p) { return p.is_same(parts.trained[i]); })) {
      refuse("the optimizer does not hold " + called(parts.trained_names[i]));
    }
  }
  std::optional<OptimizerInBackward::Usage> usage;
  if (parts.options.find_unused_parameters || parts.options.static_graph) {
    usage.emplace();
    usage->here = [&parts](const at::Tensor& parameter) { return parts.used[parts.number_of(parameter)] != 0; };
    usage->anywhere = [&parts] {
      const at::Tensor map = parts.usage_of_all();
      return [&parts, map](const at::Tensor& parameter) {
        return map[static_cast<std::int64_t>(parts.number_of(parameter))].item<int>() != 0;
      };
    };
    usage->forget = [&parts] { parts.used.assign(parts.trained.size(), 0); };
  }
  parts.in_backward = std::make_shared<OptimizerInBackward>(
      std::move(optimizer), parts.trained, std::move(usage), [&parts](const std::vector<at::Tensor>& stepped) {
        if (parts.lowered) parts.lowered->restore(stepped);
      });
}

void DataParallelReducer::set_buffers(std::vector<at::Tensor> buffers) {
  Parts& parts = *parts_;
  const auto same = [](const at::Tensor& a, const at::Tensor& b) { return a.is_same(b); };
  if (std::equal(buffers.begin(), buffers.end(), parts.given_buffers.begin(), parts.given_buffers.end(), same)) return;
  std::vector<at::Tensor> checked = check_buffers(buffers);
  if (parts.options.mixed_precision.buffer_dtype) cast_buffers(checked, *parts.options.mixed_precision.buffer_dtype);
  parts.buffers = std::move(checked);
  parts.given_buffers = std::move(buffers);
}

const DataParallelOptions& DataParallelReducer::options() const {
  return parts_->options;
}

}  // namespace tandem
