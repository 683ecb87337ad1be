#include "tandem/sync_batch_norm.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "nn/modules/network_batch_norm.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::ScalarType statistics_dtype(const at::Tensor& input) {
  const auto dtype = input.scalar_type();
  return dtype == at::kHalf || dtype == at::kBFloat16 ? at::kFloat : dtype;
}

// All but the channels.
std::vector<std::int64_t> reduced_dims(const at::Tensor& input) {
  std::vector<std::int64_t> dims = {0};
  for (std::int64_t dim = 2; dim < input.dim(); ++dim) dims.push_back(dim);
  return dims;
}

// A number a channel, to go with `input`.
at::Tensor along_channels(const at::Tensor& numbers, const at::Tensor& input) {
  std::vector<std::int64_t> sizes(input.dim(), 1);
  sizes[1] = numbers.numel();
  return numbers.view(sizes);
}

struct Statistics {
  at::Tensor mean, squares;  // of each channel; squares: the sum of squared distances from the mean
  double count;              // values a channel
};

Statistics of_all_ranks(const at::Tensor& input, ProcessGroup& group) {
  const std::int64_t channels = input.size(1);
  const at::Tensor x = input.to(statistics_dtype(input));
  const auto options = x.options();
  const std::int64_t count = channels == 0 ? 0 : x.numel() / channels;
  at::Tensor mean = at::zeros({channels}, options), squares = mean;
  if (count > 0) {
    const auto dims = reduced_dims(x);
    mean = x.mean(dims);
    squares = (x - along_channels(mean, x)).square().sum(dims);
  }
  const at::Tensor mine = at::cat({mean, squares, at::full({1}, static_cast<double>(count), options)});
  std::vector<at::Tensor> gathered;
  for (int rank = 0; rank < group.size(); ++rank) gathered.push_back(at::empty_like(mine));
  group.all_gather(gathered, mine);

  // Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979.
  const at::Tensor all = at::stack(gathered);
  const at::Tensor means = all.narrow(1, 0, channels), counts = all.narrow(1, 2 * channels, 1);
  const double total = counts.sum().item<double>();
  const at::Tensor joined = (means * counts).sum(0) / std::max(total, 1.0);
  return {joined, (all.narrow(1, channels, channels) + counts * (means - joined).square()).sum(0), total};
}

struct GroupHolder final : torch::CustomClassHolder {
  explicit GroupHolder(std::shared_ptr<ProcessGroup> held) : group(std::move(held)) {}
  const std::shared_ptr<ProcessGroup> group;
};

struct Normalize : torch::autograd::Function<Normalize> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, const at::Tensor& mean, const at::Tensor& invstd, double count,
                            const std::shared_ptr<ProcessGroup>& group) {
    context->save_for_backward({input, weight, mean, invstd});
    context->saved_data["count"] = count;
    context->saved_data["group"] = c10::IValue::make_capsule(c10::make_intrusive<GroupHolder>(group));
    const at::Tensor centred = input.to(mean.scalar_type()) - along_channels(mean, input);
    const at::Tensor y = centred * along_channels(invstd * weight, input) + along_channels(bias, input);
    return y.to(input.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    if (at::GradMode::is_enabled()) {
      throw Error(ErrorCode::kUnsupported,
                  "SyncBatchNorm has no second derivative: call backward without create_graph, or use BatchNorm");
    }
    const auto saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &weight = saved[1], &mean = saved[2], &invstd = saved[3];
    const auto holder = context->saved_data["group"].toCapsule();
    ProcessGroup& group = *static_cast<GroupHolder&>(*holder).group;
    const double count = context->saved_data["count"].toDouble();

    const at::Tensor dy = gradients[0].to(mean.scalar_type());
    const at::Tensor centred = input.to(mean.scalar_type()) - along_channels(mean, input);
    const auto dims = reduced_dims(input);
    const at::Tensor sum_dy = dy.sum(dims), sum_dy_centred = (dy * centred).sum(dims);
    variable_list results(7);
    if (context->needs_input_grad(1)) results[1] = (sum_dy_centred * invstd).to(weight.scalar_type());
    if (context->needs_input_grad(2)) results[2] = sum_dy.to(weight.scalar_type());
    if (context->needs_input_grad(0)) {
      const at::Tensor sums = at::stack({sum_dy, sum_dy_centred});
      group.all_reduce(sums);
      const at::Tensor means = sums / count;
      const at::Tensor slope = means[1] * invstd.square();
      const at::Tensor dx = dy - along_channels(means[0], input) - centred * along_channels(slope, input);
      results[0] = (dx * along_channels(invstd * weight, input)).to(input.scalar_type());
    }
    return results;
  }
};

// What modules and converted ones do alike.
template <typename Norm>
at::Tensor normalize(Norm& norm, const at::Tensor& input, const std::shared_ptr<ProcessGroup>& group) {
  if (!norm.is_training()) {
    // Without running statistics evaluation uses its own batch's, as BatchNorm does.
    return at::batch_norm(input, norm.weight, norm.bias, norm.running_mean, norm.running_var,
                          /*training=*/!norm.running_mean.defined(), 0, norm.options.eps(), false);
  }
  double momentum = 0;
  if (norm.options.track_running_stats() && norm.num_batches_tracked.defined()) {
    at::NoGradGuard no_grad;
    norm.num_batches_tracked += 1;
    const auto& given = norm.options.momentum();
    momentum = given ? *given : 1.0 / norm.num_batches_tracked.template item<double>();
  }
  return sync_batch_norm(input, norm.weight, norm.bias, norm.running_mean, norm.running_var, momentum,
                         norm.options.eps(), group);
}

[[noreturn]] void refuse_copy() {
  throw Error(ErrorCode::kUnsupported,
              "SyncBatchNorm cannot be copied: copies in one process would call its collectives in any order");
}

template <typename Implementation>
class Synchronized final : public nn::Module {
 public:
  Synchronized(std::unique_ptr<nn::Module> module, Implementation& norm, std::shared_ptr<ProcessGroup> group)
      : Module("SyncBatchNorm"), module_(std::move(module)), norm_(norm), group_(std::move(group)) {}

  torch::nn::Module& get() const override { return module_->get(); }
  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) override {
    if (arguments.size() != 1 || !arguments[0].isTensor()) {
      throw Error(ErrorCode::kInvalidArgument, "SyncBatchNorm: forward takes one tensor");
    }
    return {normalize(norm_, arguments[0].toTensor(), group_)};
  }

 protected:
  std::unique_ptr<nn::Module> copy() const override { refuse_copy(); }

 private:
  const std::unique_ptr<nn::Module> module_;
  Implementation& norm_;  // of module_
  const std::shared_ptr<ProcessGroup> group_;
};

// A network whose BatchNorms are synchronized.
class SynchronizedNetwork final : public nn::Module {
 public:
  explicit SynchronizedNetwork(std::unique_ptr<nn::Module> module)
      : Module(module->type()), module_(std::move(module)) {}

  torch::nn::Module& get() const override { return module_->get(); }
  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) override { return module_->forward(arguments); }

 protected:
  std::unique_ptr<nn::Module> copy() const override { refuse_copy(); }

 private:
  const std::unique_ptr<nn::Module> module_;
};

std::unique_ptr<nn::Module> synchronize_parts(std::unique_ptr<nn::Module>& module,
                                              const std::shared_ptr<ProcessGroup>& group) {
  bool found = false;
  for (const auto& part : module->get().modules(/*include_self=*/false)) {
    if (auto* norm = part->as<nn::NetworkBatchNorm2d>()) {
      norm->compute = [group](torch::nn::BatchNorm2dImpl& own, const at::Tensor& x) {
        return normalize(own, x, group);
      };
      found = true;
    }
  }
  return found ? std::make_unique<SynchronizedNetwork>(std::move(module)) : nullptr;
}

template <typename Holder>
std::unique_ptr<nn::Module> synchronize(std::unique_ptr<nn::Module>& module,
                                        const std::shared_ptr<ProcessGroup>& group) {
  auto* norm = module->get().as<Holder>();
  if (!norm) return nullptr;
  using Implementation = std::remove_pointer_t<decltype(norm)>;
  return std::make_unique<Synchronized<Implementation>>(std::move(module), *norm, group);
}

}  // namespace

at::Tensor sync_batch_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                           const at::Tensor& running_mean, const at::Tensor& running_var, double momentum, double eps,
                           const std::shared_ptr<ProcessGroup>& group) {
  if (!group) throw Error(ErrorCode::kInvalidArgument, "SyncBatchNorm needs a process group");
  if (input.dim() < 2) {
    throw Error(ErrorCode::kInvalidArgument, c10::str("SyncBatchNorm takes [rows, channels, …], not ", input.sizes()));
  }
  at::Tensor mean, invstd;
  double count = 0;
  {
    at::NoGradGuard no_grad;
    const Statistics statistics = of_all_ranks(input.detach(), *group);
    count = statistics.count;
    if (count < 2) {
      throw Error(
          ErrorCode::kInvalidArgument,
          c10::str("SyncBatchNorm has ", count, " values a channel over all ranks; training needs two or more"));
    }
    mean = statistics.mean;
    invstd = (statistics.squares / count + eps).rsqrt();
    if (running_mean.defined()) {
      running_mean.mul_(1 - momentum).add_(mean.to(running_mean.scalar_type()), momentum);
      running_var.mul_(1 - momentum).add_((statistics.squares / (count - 1)).to(running_var.scalar_type()), momentum);
    }
  }
  // A node takes no undefined tensors.
  const at::Tensor scale = weight.defined() ? weight : at::ones_like(mean);
  const at::Tensor shift = bias.defined() ? bias : at::zeros_like(mean);
  return Normalize::apply(input, scale, shift, mean, invstd, count, group);
}

SyncBatchNormImpl::SyncBatchNormImpl(const torch::nn::BatchNormOptions& options, std::shared_ptr<ProcessGroup> group)
    : BatchNormImplBase(options), group_(std::move(group)) {}

at::Tensor SyncBatchNormImpl::forward(const at::Tensor& input) {
  return normalize(*this, input, group_);
}

void SyncBatchNormImpl::_check_input_dim(const at::Tensor&) {}

std::unique_ptr<nn::Module> synchronize_batch_norm(std::unique_ptr<nn::Module>& module,
                                                   std::shared_ptr<ProcessGroup> group) {
  if (auto made = synchronize<torch::nn::BatchNorm1d>(module, group)) return made;
  if (auto made = synchronize<torch::nn::BatchNorm2d>(module, group)) return made;
  if (auto made = synchronize<torch::nn::BatchNorm3d>(module, group)) return made;
  return synchronize_parts(module, group);
}

}  // namespace tandem
