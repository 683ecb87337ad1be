// Communication hooks of DistributedDataParallel: Tandem's, and functions of the caller's.
#include "core/call/callback.h"
#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/comm/groups.h"
#include "tandem/comm_hook.h"

using namespace tandem::capi;

namespace {

using tandem::CommHook;
using tandem::Exchange;

CommHook make_hook(tdm_comm_hook hook, const std::shared_ptr<tandem::ProcessGroup>& group,
                   const tdm_comm_hook_options& given, std::shared_ptr<tandem::PowerSgdState>* state) {
  const auto power_sgd = [&] {
    tandem::PowerSgdOptions options;
    options.matrix_approximation_rank = given.matrix_approximation_rank;
    options.start_power_sgd_iter = given.start_power_sgd_iter;
    options.min_compression_rate = given.min_compression_rate;
    options.use_error_feedback = given.use_error_feedback != 0;
    options.warm_start = given.warm_start != 0;
    options.orthogonalization_epsilon = given.orthogonalization_epsilon;
    options.random_seed = given.random_seed;
    *state = std::make_shared<tandem::PowerSgdState>(group, options);
    return *state;
  };
  switch (hook) {
    case TDM_COMM_HOOK_ALLREDUCE:
      return tandem::allreduce_hook(group);
    case TDM_COMM_HOOK_FP16_COMPRESS:
      return tandem::fp16_compress_hook(group);
    case TDM_COMM_HOOK_BF16_COMPRESS:
      return tandem::bf16_compress_hook(group);
    case TDM_COMM_HOOK_QUANTIZATION_PERTENSOR:
      return tandem::quantization_pertensor_hook(group);
    case TDM_COMM_HOOK_QUANTIZATION_PERCHANNEL:
      return tandem::quantization_perchannel_hook(group, given.channel_size);
    case TDM_COMM_HOOK_POWER_SGD:
      return tandem::power_sgd_hook(power_sgd());
    case TDM_COMM_HOOK_BATCHED_POWER_SGD:
      return tandem::batched_power_sgd_hook(power_sgd());
    case TDM_COMM_HOOK_POST_LOCAL_SGD:
      return tandem::post_local_sgd_hook(
          group, given.subgroup ? not_null(given.subgroup, "options->subgroup")->group : nullptr,
          {given.start_local_sgd_iter, given.post_local_gradient_allreduce != 0});
    case TDM_COMM_HOOK_NOOP:
      return tandem::noop_hook();
    default:
      invalid("argument 'hook' is " + std::to_string(hook) + ", which is no tdm_comm_hook");
  }
}

constexpr const char* kBuckets = "buckets";
constexpr const char* kPowerSgd = "power_sgd.";

// For each bucket how many parameters it has, and which.
at::Tensor pack_layout(const std::vector<std::vector<std::int64_t>>& layout) {
  std::vector<std::int64_t> numbers;
  for (const auto& bucket : layout) {
    numbers.push_back(static_cast<std::int64_t>(bucket.size()));
    numbers.insert(numbers.end(), bucket.begin(), bucket.end());
  }
  return at::tensor(at::ArrayRef<std::int64_t>(numbers), at::TensorOptions(at::kLong));
}

std::vector<std::vector<std::int64_t>> unpack_layout(const at::Tensor& packed) {
  if (packed.dim() != 1 || packed.scalar_type() != at::kLong) invalid("state 'buckets' is no list of int64");
  const at::Tensor numbers = packed.cpu().contiguous();
  const auto* data = numbers.const_data_ptr<std::int64_t>();
  std::vector<std::vector<std::int64_t>> layout;
  for (std::int64_t at = 0; at < numbers.numel();) {
    const std::int64_t count = data[at++];
    if (count < 0 || count > numbers.numel() - at) invalid("state 'buckets' is cut short");
    layout.emplace_back(data + at, data + at + count);
    at += count;
  }
  return layout;
}

// A bucket with handles of the scope that is open here.
class BucketHandles {
 public:
  explicit BucketHandles(const c10d::GradBucket& bucket) {
    const bool sparse = bucket.getBuffer().is_sparse();
    if (!sparse) gradients_ = make_optional_handles(tandem::gradients_of(bucket));
    parameters_ = make_optional_handles(bucket.getParameters());
    described_ = {sizeof(tdm_grad_bucket),
                  static_cast<std::int64_t>(bucket.getIndex()),
                  make_tensor_handle(bucket.getBuffer()),
                  gradients_.data(),
                  gradients_.size(),
                  parameters_.data(),
                  parameters_.size(),
                  bucket.isLast() ? 1 : 0};
  }
  const tdm_grad_bucket* get() const { return &described_; }

 private:
  std::vector<tdm_tensor*> gradients_, parameters_;
  tdm_grad_bucket described_;
};

constexpr const char* kCommHook = "a communication hook";

using Begin = tdm_error* (*)(void* user_data, const tdm_grad_bucket* bucket, tdm_work** work);
using Finish = tdm_error* (*)(void* user_data, const tdm_grad_bucket* bucket, tdm_tensor** result);

at::Tensor call_finish(Finish finish, const Callback& callback, const c10d::GradBucket& bucket) {
  at::Tensor result = bucket.getBuffer();
  tdm_tensor* given = nullptr;
  run_callback(
      kCommHook, [&] { return finish(callback.user_data(), BucketHandles(bucket).get(), &given); },
      [&] {
        if (given) result = unwrap(given, "result");
      });
  const at::Tensor& buffer = bucket.getBuffer();
  if (result.sizes() != buffer.sizes() || result.scalar_type() != buffer.scalar_type()) {
    invalid(c10::str("a communication hook gave a tensor of ", result.scalar_type(), result.sizes(), " for bucket ",
                     bucket.getIndex(), ", which is ", buffer.scalar_type(), buffer.sizes()));
  }
  return result;
}

Exchange call_begin(Begin begin, Finish finish, const std::shared_ptr<Callback>& callback,
                    const c10d::GradBucket& bucket) {
  tdm_work* given = nullptr;
  // The collective, not the handle; its group lives until the work is done.
  std::pair<tandem::Work, std::shared_ptr<tandem::ProcessGroup>> taken;
  run_callback(
      kCommHook, [&] { return begin(callback->user_data(), BucketHandles(bucket).get(), &given); },
      [&] {
        if (given) taken = {not_null(given, "work")->work, given->group};
      });
  if (!finish && !taken.second) return {{}, {}, bucket.getBuffer()};
  return {taken.first,
          [finish, callback, bucket, group = taken.second]() -> Exchange {
            return {{}, {}, finish ? call_finish(finish, *callback, bucket) : bucket.getBuffer()};
          },
          {}};
}

}  // namespace

tdm_error* tdm_ddp_set_comm_hook(tdm_ddp* ddp, tdm_comm_hook hook, const tdm_comm_hook_options* options) {
  return guard("tdm_ddp_set_comm_hook", [&] {
    not_null(ddp, "ddp");
    const auto given =
        read_options<tdm_comm_hook_options>(options, TDM_COMM_HOOK_OPTIONS_INIT, "tdm_comm_hook_options");
    std::shared_ptr<tandem::PowerSgdState> power_sgd;
    CommHook made = make_hook(hook, ddp->group, given, &power_sgd);
    if (given.compress_dtype != TDM_UNCHANGED) {
      const at::ScalarType dtype = to_scalar_type(given.compress_dtype, "compress_dtype");
      if (!at::isFloatingType(dtype)) invalid("option 'compress_dtype' must be a floating-point dtype");
      made = tandem::compress_wrapper(dtype, std::move(made));
    }
    ddp->reducer->register_comm_hook(std::move(made));
    ddp->power_sgd = std::move(power_sgd);
  });
}

tdm_error* tdm_ddp_state(const tdm_ddp* ddp, tdm_named_tensors** out) {
  return guard("tdm_ddp_state", [&] {
    not_null(ddp, "ddp");
    not_null(out, "out");
    auto list = std::make_unique<tdm_named_tensors>();
    list->items.emplace_back(kBuckets, pack_layout(ddp->reducer->bucket_layout()));
    if (ddp->power_sgd) {
      for (auto& [name, tensor] : ddp->power_sgd->state()) list->items.emplace_back(kPowerSgd + name, tensor);
    }
    *out = list.release();
  });
}

tdm_error* tdm_ddp_load_state(tdm_ddp* ddp, const char* const* names, tdm_tensor* const* tensors, size_t count) {
  return guard("tdm_ddp_load_state", [&] {
    not_null(ddp, "ddp");
    const auto labels = to_strings(names, count, "names");
    const auto values = unwrap_list(tensors, count, "tensors");
    at::Tensor buckets;
    std::vector<std::pair<std::string, at::Tensor>> of_hook;
    for (std::size_t i = 0; i < count; ++i) {
      if (labels[i] == kBuckets) {
        buckets = values[i];
      } else if (ddp->power_sgd && labels[i].starts_with(kPowerSgd)) {
        of_hook.emplace_back(labels[i].substr(std::string_view(kPowerSgd).size()), values[i]);
      } else {
        invalid("state '" + labels[i] + "' is none of this ddp; set the hook that it is of before");
      }
    }
    if (!buckets.defined()) invalid(std::string("the state has no '") + kBuckets + "'");
    if (ddp->power_sgd && of_hook.empty()) invalid("the state has nothing of PowerSGD, which is this ddp's hook");
    const auto layout = unpack_layout(buckets);
    // What may be refused without harm comes first.
    const auto before = ddp->power_sgd ? ddp->power_sgd->state() : of_hook;
    if (ddp->power_sgd) ddp->power_sgd->load_state(of_hook);
    try {
      ddp->reducer->use_bucket_layout(layout);
    } catch (...) {
      if (ddp->power_sgd) ddp->power_sgd->load_state(before);
      throw;
    }
  });
}

tdm_error* tdm_ddp_register_comm_hook(tdm_ddp* ddp, Begin begin, Finish finish, void* user_data,
                                      void (*destroy)(void* user_data)) {
  return guard("tdm_ddp_register_comm_hook", [&] {
    not_null(ddp, "ddp");
    not_null(begin, "begin");
    const auto callback = std::make_shared<Callback>(user_data);
    ddp->reducer->register_comm_hook(
        [begin, finish, callback](c10d::GradBucket& bucket) { return call_begin(begin, finish, callback, bucket); });
    callback->adopt(destroy);
  });
}
