#include <ATen/ATen.h>
#include <torch/version.h>

#include <string_view>

#include "ddp/parts.h"
#include "tandem/error.h"

namespace tandem {

std::vector<c10d::GradBucket> DataParallelReducer::Parts::buckets() const {
  try {
    return reducer->get_grad_buckets(/*return_zero_tensors=*/false);
  } catch (const c10::Error& error) {
    const std::string_view message = error.what_without_backtrace();
    if (message.find("has not been allocated yet") == std::string_view::npos) throw;
    return {};
  }
}

at::Tensor DataParallelReducer::Parts::usage_of_all() const {
  if (shadowed_usage.defined()) return shadowed_usage;
  return reducer->get_local_used_map_on_device().cpu();
}

void DataParallelReducer::Parts::shadow_backward(bool static_first) {
  std::vector<c10d::GradBucket> buckets = this->buckets();
  if (buckets.empty()) {
    throw Error(
        ErrorCode::kUnsupported,
        "this rank is out of inputs before its first backward, and has sparse gradients: LibTorch " TORCH_VERSION
        " does not say what to exchange then; give every rank a batch, or make the embeddings' gradients dense");
  }
  const auto match_used_map = [&] {
    std::vector<at::Tensor> map = {at::zeros_like(reducer->get_local_used_map_on_device())};
    group->native()->allreduce(map)->wait();
    shadowed_usage = map[0].cpu();
  };
  const bool searches = options.find_unused_parameters && !options.static_graph;
  if (static_first) match_used_map();
  if (in_backward) in_backward->begin_shadow();
  std::vector<c10::intrusive_ptr<c10::ivalue::Future>> futures;
  for (c10d::GradBucket& bucket : buckets) {
    at::Tensor zeros;
    if (bucket.getBuffer().defined()) {
      zeros = at::zeros_like(bucket.getBuffer());
    } else {  // of sparse gradients, before the first backward here
      const at::Tensor table = bucket.getParameters()[0].detach();
      zeros = at::sparse_coo_tensor(at::empty({1, 0}, table.options().dtype(at::kLong)), table.narrow(0, 0, 0),
                                    table.sizes());
    }
    bucket.setBuffer(zeros);
    futures.push_back(reducer->run_comm_hook(bucket));
  }
  for (const auto& future : futures) future->waitAndThrow();
  if (!static_first && searches) match_used_map();
  if (join.shadow_step && !in_backward) {
    const at::Tensor usage = searches || options.static_graph ? usage_of_all() : at::Tensor();
    for (std::size_t i = 0; i < futures.size(); ++i) {
      const auto value = futures[i]->value();
      const at::Tensor result = value.isTensor() ? value.toTensor() : c10d::detail::parseCppCommHookResult(value);
      const std::vector<at::Tensor> parameters = buckets[i].getParameters();
      const std::vector<at::Tensor> gradients = gradients_of(buckets[i], result);
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        // What no rank used has no gradient on the others either: an optimizer would decay it.
        const bool used = !usage.defined() || usage[static_cast<std::int64_t>(number_of(parameters[p]))].item<int>() != 0;
        parameters[p].mutable_grad() = used ? gradients[p].clone() : at::Tensor();
      }
    }
  }
  if (in_backward) in_backward->end();
  if (!static_first) reducer->push_rebuilt_params_for_all_indices();
  if (join.shadow_step) join.shadow_step();
}

void DataParallelReducer::Parts::shadow(RollCall& others) {
  at::NoGradGuard no_grad;
  const Announcement announced = others.together();
  set_hook();
  average_over(count_averaged(others));
  if (announced.synchronizes) rebuild_buckets();
  if (announced.sends_buffers) broadcast(buffers, others.lowest_present());
  if (!announced.synchronizes) return;
  shadow_backward(announced.first_of_static);
  if (timer) timer->count_shadow();
}

void DataParallelReducer::begin_join(const JoinOptions& options) {
  if (parts_->joins) throw Error(ErrorCode::kInvalidArgument, "join began before and has not ended");
  if (parts_->trial_options) {
    throw Error(ErrorCode::kInvalidArgument,
                "join cannot begin while bucket sizes are tried, for which all ranks make the same steps; join when "
                "bucket_advice() says that it is done");
  }
  if (parts_->options.skip_all_reduce_unused_params) {
    throw Error(ErrorCode::kInvalidArgument,
                "join does not go with skip_all_reduce_unused_params: a rank that is out of inputs cannot know which "
                "buckets the others leave out; make the DistributedDataParallel without that option");
  }
  parts_->joins = true;
  if (parts_->timer) parts_->timer->suspend_separate(true);
  parts_->join = options;
  parts_->logger->set_uneven_input_join();
}

void DataParallelReducer::cancel_join() {
  parts_->joins = false;
  parts_->average_over(parts_->group->size());
  if (parts_->timer) parts_->timer->suspend_separate(false);
  parts_->join = {};
}

void DataParallelReducer::end_join() {
  Parts& parts = *parts_;
  if (!parts.joins) throw Error(ErrorCode::kInvalidArgument, "join has not begun");
  struct Ending {
    DataParallelReducer& reducer;
    ~Ending() { reducer.cancel_join(); }
  } ending{*this};
  // Ranks that wait for a bucket must not meet the roll call in its place.
  if (!parts.refused) parts.check_finished();
  bool is_last = true;
  for (;;) {
    RollCall others(*parts.group, {}, parts.device());
    if (others.present() == 0) break;
    is_last = false;
    if (parts.join.throw_on_early_termination) {
      throw Error(ErrorCode::kAborted, "this rank is out of inputs, and join was told to end all ranks then");
    }
    parts.shadow(others);
  }
  // One of those that trained to the end has what training came to.
  const at::Tensor source =
      at::full({1}, is_last ? parts.group->rank() : -1, at::TensorOptions(at::kLong)).to(parts.device());
  parts.group->all_reduce(source, ReduceOp::kMax);
  std::vector<at::Tensor> all = parts.parameters;
  if (parts.options.broadcast_buffers) all.insert(all.end(), parts.buffers.begin(), parts.buffers.end());
  parts.broadcast(all, static_cast<int>(source.item<std::int64_t>()));
}

}  // namespace tandem
