// What is checked and handed to the backend for each collective.
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include "comm/finished_work.h"
#include "comm/process_group_parts.h"
#include "comm/store/store_exchange.h"
#include "comm/tensors.h"

namespace tandem {
namespace {

using Tensors = std::vector<at::Tensor>;

c10::intrusive_ptr<c10d::Work> nothing_to_do() {
  return c10::make_intrusive<FinishedWork>(-1, c10d::OpType::UNKNOWN, Tensors());
}

void check_contiguous(const at::Tensor& tensor, const std::string& what, const char* collective) {
  if (!tensor.defined()) refuse(collective, what + " is undefined");
  if (tensor.layout() == at::kStrided && tensor.is_contiguous()) return;
  refuse(collective, what + ", " + describe(tensor) + ", is not contiguous; pass tensor.contiguous()");
}

void check_same_dtype(const at::Tensor& tensor, const at::Tensor& other, const std::string& what,
                      const char* collective) {
  if (!tensor.defined()) refuse(collective, what + " is undefined");
  if (tensor.scalar_type() == other.scalar_type() && tensor.device() == other.device()) return;
  refuse(collective, what + " is " + describe(tensor) + ", another tensor of this call " + describe(other) +
                         "; all must have the same dtype and device");
}

// One a rank, of which this rank's is `own`.
void check_list(const Tensors& list, const at::Tensor& own, int rank, int size, const std::string& kind,
                const char* collective, bool alike) {
  if (!own.defined()) refuse(collective, "a tensor is undefined");
  if (list.size() != static_cast<std::size_t>(size)) {
    refuse(collective, "got " + std::to_string(list.size()) + " " + kind + "s for a group of " + std::to_string(size) +
                           "; give one a rank");
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string what = kind + " " + std::to_string(i);
    check_contiguous(list[i], what, collective);
    const bool must_match = alike || static_cast<int>(i) == rank;
    if (list[i].scalar_type() == own.scalar_type() && (!must_match || list[i].sizes() == own.sizes())) continue;
    refuse(collective, what + " is " + describe(list[i]) + ", but this rank's tensor is " + describe(own) +
                           (must_match ? "; they must be alike" : "; they must have the same dtype"));
  }
}

bool have_same_sizes(const Tensors& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (tensor.sizes() != tensors.front().sizes()) return false;
  }
  return true;
}

bool are_all_empty(const Tensors& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (tensor.numel() != 0) return false;
  }
  return true;
}

Tensors to_move_all(const Tensors& tensors, bool few_types) {
  Tensors result;
  for (const at::Tensor& tensor : tensors) result.push_back(to_move(tensor.contiguous(), few_types));
  return result;
}

std::int64_t row_size(const at::Tensor& tensor) {
  return c10::multiply_integers(tensor.sizes().slice(1));
}

void check_splits(const std::vector<std::int64_t>& splits, const at::Tensor& tensor, int size, const std::string& what) {
  const bool counted = splits.size() == static_cast<std::size_t>(size);
  std::int64_t sum = 0;
  bool negative = false;
  for (const std::int64_t split : splits) {
    negative |= split < 0;
    sum += split;
  }
  if (counted && !negative && sum == tensor.size(0)) return;
  refuse("all_to_all_single", "the splits " + c10::str(splits) + " do not divide the " +
                                  std::to_string(tensor.size(0)) + " rows of the " + what + " among " +
                                  std::to_string(size) + " ranks");
}

}  // namespace

Channel& ProcessGroup::channel_for(const at::Tensor& tensor, const char* collective) const {
  Channel& main = parts_->main();
  main.state->check_usable(collective);
  if (!tensor.defined()) return main;  // to be refused
  for (const auto& channel : parts_->channels) {
    if (channel->serves(tensor.device().type())) return *channel;
  }
  refuse(collective, "backend " + backend() + " takes no tensors on " +
                         c10::DeviceTypeName(tensor.device().type(), true) + ", this is " + describe(tensor));
}

Channel& ProcessGroup::channel_for(const std::vector<at::Tensor>& tensors, const char* collective) const {
  Channel& channel = tensors.empty() ? parts_->main() : channel_for(tensors.front(), collective);
  for (const at::Tensor& tensor : tensors) {
    if (&channel_for(tensor, collective) == &channel) continue;
    refuse(collective, "of backends " + backend() + " one call takes the tensors of one");
  }
  return channel;
}

void ProcessGroup::check_rank_of(int rank, const char* what, const char* collective) const {
  if (rank >= 0 && rank < size()) return;
  refuse(collective, std::string(what) + " " + std::to_string(rank) + " is no rank of a group of " +
                         std::to_string(size()));
}

Work ProcessGroup::broadcast_async(const at::Tensor& tensor, int root) {
  Channel& channel = channel_for(tensor, "broadcast");
  check_dense(tensor, "broadcast");
  check_rank_of(root, "root", "broadcast");
  if (tensor.numel() == 0) return Work(nothing_to_do(), {tensor});
  Tensors tensors = {to_move(tensor, channel.few_types())};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  return Work(channel.backend->broadcast(tensors, options), {tensor});
}

Work ProcessGroup::all_reduce_async(const at::Tensor& tensor, ReduceOp op) {
  Channel& channel = channel_for(tensor, "all_reduce");
  const Reduction reduction = to_reduce(tensor, op, "all_reduce", channel.few_types());
  if (tensor.numel() == 0) return Work(nothing_to_do(), {tensor});
  Tensors tensors = {reduction.tensor};
  c10d::AllreduceOptions options;
  options.reduceOp = reduction.op;
  return Work(channel.backend->allreduce(tensors, options), {tensor});
}

Work ProcessGroup::all_reduce_premul_sum_async(const at::Tensor& tensor, double factor) {
  Channel& channel = channel_for(tensor, "all_reduce_premul_sum");
  check_dense(tensor, "all_reduce_premul_sum");
  if (!tensor.is_floating_point() && !tensor.is_complex()) {
    refuse("all_reduce_premul_sum", describe(tensor) + " is no tensor of floats");
  }
  if (channel.kind == BackendKind::kNccl && !tensor.is_complex() && tensor.numel() != 0) {
    Tensors tensors = {tensor.detach()};
    c10d::AllreduceOptions options;
    // LibTorch's function for it has another name in each release, and its constructor drops the factor.
    options.reduceOp.op_ = c10d::ReduceOp::PREMUL_SUM;
    options.reduceOp.supplement_ = c10::make_intrusive<c10d::NCCLPreMulSumSupplement>(factor);
    return Work(channel.backend->allreduce(tensors, options), {tensor});
  }
  {
    at::NoGradGuard no_grad;
    tensor.detach().mul_(factor);
  }
  return all_reduce_async(tensor, ReduceOp::kSum);
}

Work ProcessGroup::all_reduce_coalesced_async(const Tensors& tensors, ReduceOp op) {
  constexpr const char* kName = "all_reduce_coalesced";
  Channel& channel = channel_for(tensors, kName);
  std::vector<Reduction> reductions;
  for (const at::Tensor& tensor : tensors) {
    Reduction reduction = to_reduce(tensor, op, kName, channel.few_types());
    if (channel.kind == BackendKind::kNccl) check_same_dtype(tensor, tensors.front(), "a tensor", kName);
    if (tensor.numel() != 0) reductions.push_back(std::move(reduction));
  }
  if (reductions.empty()) return Work(nothing_to_do(), tensors);
  if (channel.kind != BackendKind::kNccl) return Work(channel.backend->allreduce_many(reductions), tensors);
  Tensors native;
  c10d::AllreduceCoalescedOptions options;
  options.reduceOp = reductions.front().op;
  for (const Reduction& reduction : reductions) native.push_back(reduction.tensor);
  return Work(channel.backend->allreduce_coalesced(native, options), tensors);
}

Work ProcessGroup::reduce_async(const at::Tensor& tensor, int root, ReduceOp op) {
  Channel& channel = channel_for(tensor, "reduce");
  const Reduction reduction = to_reduce(tensor, op, "reduce", channel.few_types());
  check_rank_of(root, "root", "reduce");
  if (tensor.numel() == 0) return Work(nothing_to_do(), {tensor});
  Tensors tensors = {reduction.tensor};
  c10d::ReduceOptions options;
  options.reduceOp = reduction.op;
  options.rootRank = root;
  return Work(channel.backend->reduce(tensors, options), {tensor});
}

Work ProcessGroup::all_gather_async(const Tensors& outputs, const at::Tensor& input) {
  Channel& channel = channel_for(input, "all_gather");
  check_list(outputs, input, rank(), size(), "output", "all_gather", /*alike=*/false);
  if (are_all_empty(outputs)) return Work(nothing_to_do(), outputs);
  Tensors inputs = to_move_all({input}, channel.few_types());
  std::vector<Tensors> lists = {to_move_all(outputs, channel.few_types())};
  if (have_same_sizes(outputs)) return Work(channel.backend->allgather(lists, inputs, {}), outputs);
  return Work(channel.backend->allgather_uneven(lists[0], inputs[0]), outputs);
}

Work ProcessGroup::all_gather_into_tensor_async(const at::Tensor& output, const at::Tensor& input) {
  constexpr const char* kName = "all_gather_into_tensor";
  Channel& channel = channel_for(input, kName);
  check_contiguous(output, "the output", kName);
  check_same_dtype(input, output, "the input", kName);
  if (output.numel() != input.numel() * size()) {
    refuse(kName, "the output is " + describe(output) + "; for an input of " + describe(input) + " it must have " +
                      std::to_string(input.numel() * size()) + " elements");
  }
  if (input.numel() == 0) return Work(nothing_to_do(), {output});
  at::Tensor to = to_move(output, channel.few_types()).view({-1});
  at::Tensor from = to_move(input.contiguous(), channel.few_types()).view({-1});
  return Work(channel.backend->_allgather_base(to, from, {}), {output});
}

Work ProcessGroup::gather_async(const Tensors& outputs, const at::Tensor& input, int root) {
  Channel& channel = channel_for(input, "gather");
  if (!input.defined()) refuse("gather", "the input is undefined");
  check_rank_of(root, "root", "gather");
  if (rank() == root) {
    check_list(outputs, input, rank(), size(), "output", "gather", /*alike=*/true);
  } else if (!outputs.empty()) {
    refuse("gather", "rank " + std::to_string(rank()) + " gave outputs, but root is " + std::to_string(root) +
                         ", which alone gets them");
  }
  if (input.numel() == 0) return Work(nothing_to_do(), outputs);
  Tensors inputs = to_move_all({input}, channel.few_types());
  std::vector<Tensors> lists;
  if (rank() == root) lists.push_back(to_move_all(outputs, channel.few_types()));
  c10d::GatherOptions options;
  options.rootRank = root;
  return Work(channel.backend->gather(lists, inputs, options), outputs);
}

Work ProcessGroup::scatter_async(const at::Tensor& output, const Tensors& inputs, int root) {
  Channel& channel = channel_for(output, "scatter");
  check_contiguous(output, "the output", "scatter");
  check_rank_of(root, "root", "scatter");
  Tensors given;
  if (rank() == root) {
    for (const at::Tensor& input : inputs) given.push_back(input.defined() ? input.contiguous() : input);
    check_list(given, output, rank(), size(), "input", "scatter", /*alike=*/true);
  } else if (!inputs.empty()) {
    refuse("scatter", "rank " + std::to_string(rank()) + " gave inputs, but root is " + std::to_string(root) +
                          ", which alone gives them");
  }
  if (output.numel() == 0) return Work(nothing_to_do(), {output});
  Tensors outputs = {to_move(output, channel.few_types())};
  std::vector<Tensors> lists;
  if (rank() == root) lists.push_back(to_move_all(given, channel.few_types()));
  c10d::ScatterOptions options;
  options.rootRank = root;
  return Work(channel.backend->scatter(outputs, lists, options), {output});
}

Work ProcessGroup::reduce_scatter_async(const at::Tensor& output, const Tensors& inputs, ReduceOp op) {
  Channel& channel = channel_for(output, "reduce_scatter");
  check_dense(output, "reduce_scatter");
  Tensors given;
  for (const at::Tensor& input : inputs) given.push_back(input.defined() ? input.contiguous() : input);
  check_list(given, output, rank(), size(), "input", "reduce_scatter", /*alike=*/false);
  check_contiguous(output, "the output", "reduce_scatter");
  c10d::ReduceScatterOptions options;
  options.reduceOp = to_reduce_locally(output, op, "reduce_scatter");
  if (are_all_empty(given)) return Work(nothing_to_do(), {output});
  Tensors outputs = {output.detach()};
  std::vector<Tensors> lists = {given};
  return Work(channel.backend->reduce_scatter(outputs, lists, options), {output});
}

Work ProcessGroup::reduce_scatter_tensor_async(const at::Tensor& output, const at::Tensor& input, ReduceOp op) {
  constexpr const char* kName = "reduce_scatter_tensor";
  Channel& channel = channel_for(input, kName);
  check_contiguous(output, "the output", kName);
  check_same_dtype(input, output, "the input", kName);
  if (input.numel() != output.numel() * size()) {
    refuse(kName, "the input is " + describe(input) + "; for an output of " + describe(output) + " it must have " +
                      std::to_string(output.numel() * size()) + " elements");
  }
  c10d::ReduceScatterOptions options;
  options.reduceOp = to_reduce_locally(output, op, kName);
  if (output.numel() == 0) return Work(nothing_to_do(), {output});
  at::Tensor to = output.detach().view({-1});
  at::Tensor from = input.detach().contiguous().view({-1});
  return Work(channel.backend->_reduce_scatter_base(to, from, options), {output});
}

Work ProcessGroup::all_to_all_async(const Tensors& outputs, const Tensors& inputs) {
  for (const Tensors* list : {&outputs, &inputs}) {
    if (list->size() == static_cast<std::size_t>(size())) continue;
    refuse("all_to_all", "got " + std::to_string(list->size()) + (list == &outputs ? " outputs" : " inputs") +
                             " for a group of " + std::to_string(size()) + "; give one a rank");
  }
  for (const Tensors* list : {&outputs, &inputs}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string what = (list == &outputs ? "output " : "input ") + std::to_string(i);
      if (!(*list)[i].defined() || !inputs[0].defined()) refuse("all_to_all", what + " is undefined");
      check_same_dtype((*list)[i], inputs[0], what, "all_to_all");
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_contiguous(outputs[i], "output " + std::to_string(i), "all_to_all");
  }
  if (outputs[rank()].numel() != inputs[rank()].numel()) {
    refuse("all_to_all", "this rank's output for itself is " + describe(outputs[rank()]) + ", its input " +
                             describe(inputs[rank()]) + "; they must have the same number of elements");
  }
  Channel& channel = channel_for(inputs[0], "all_to_all");
  Tensors to = to_move_all(outputs, channel.few_types()), from = to_move_all(inputs, channel.few_types());
  return Work(channel.backend->alltoall(to, from, {}), outputs);
}

Work ProcessGroup::all_to_all_single_async(const at::Tensor& output, const at::Tensor& input,
                                           const std::vector<std::int64_t>& output_splits,
                                           const std::vector<std::int64_t>& input_splits) {
  constexpr const char* kName = "all_to_all_single";
  Channel& channel = channel_for(input, kName);
  check_contiguous(output, "the output", kName);
  check_same_dtype(input, output, "the input", kName);
  if (output.dim() == 0 || input.dim() == 0) refuse(kName, "a tensor without dimensions has no rows to divide");
  const std::int64_t row = row_size(input);
  if (row_size(output) != row) {
    refuse(kName, "rows of the output, " + describe(output) + ", differ from those of the input, " + describe(input));
  }
  const bool even = output_splits.empty() && input_splits.empty();
  const auto row_count = [&](const at::Tensor& tensor, const char* what) {
    if (tensor.size(0) % size() == 0) return;
    refuse(kName, std::string("the ") + what + ", " + describe(tensor) + ", does not divide into " +
                      std::to_string(size()) + " equal parts; give splits");
  };
  if (output_splits.empty()) row_count(output, "output");
  if (input_splits.empty()) row_count(input, "input");
  if (!output_splits.empty()) check_splits(output_splits, output, size(), "output");
  if (!input_splits.empty()) check_splits(input_splits, input, size(), "input");
  if (even && output.numel() != input.numel()) {
    refuse(kName, "without splits the output, " + describe(output) + ", must be as large as the input, " +
                      describe(input));
  }
  if (row == 0 || (even && input.numel() == 0)) return Work(nothing_to_do(), {output});

  at::Tensor to = to_move(output, channel.few_types()).view({-1});
  at::Tensor from = to_move(input.contiguous(), channel.few_types()).view({-1});
  const std::int64_t scale = row * static_cast<std::int64_t>(output.element_size() / to.element_size());
  const auto counts = [&](const std::vector<std::int64_t>& splits, const at::Tensor& tensor) {
    std::vector<std::int64_t> result;
    if (even) return result;
    result = splits.empty() ? std::vector<std::int64_t>(size(), tensor.size(0) / size()) : splits;
    for (auto& count : result) count *= scale;
    return result;
  };
  std::vector<std::int64_t> received = counts(output_splits, output), sent = counts(input_splits, input);
  return Work(channel.backend->alltoall_base(to, from, received, sent, {}), {output});
}

Work ProcessGroup::barrier_async() {
  return Work(parts_->main().backend->barrier({}));
}

void ProcessGroup::monitored_barrier(std::chrono::milliseconds timeout) {
  parts_->main().state->check_usable("monitored_barrier");
  if (parts_->main().kind == BackendKind::kNone) return;
  if (timeout.count() <= 0) timeout = parts_->options.timeout;
  std::lock_guard<std::mutex> lock(parts_->barrier_mutex);
  try {
    GroupState& state = *parts_->main().state;
    exchange_through_store(*parts_->barrier, "", timeout, state.store_calls(),
                           state.watch_peers("monitored_barrier"));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kAborted) throw;
    throw Error(error.code(), "monitored_barrier on group '" + name() + "' (rank " + std::to_string(rank()) + " of " +
                                  std::to_string(size()) + "): " + error.what());
  }
}

Work ProcessGroup::isend(const at::Tensor& tensor, int to, int tag) {
  return batch_isend_irecv({{Message::Kind::kSend, tensor, to, tag}});
}

Work ProcessGroup::irecv(const at::Tensor& tensor, int from, int tag) {
  Channel& channel = channel_for(tensor, "recv");
  if (from != kAnyRank) return batch_isend_irecv({{Message::Kind::kReceive, tensor, from, tag}});
  check_contiguous(tensor, "the tensor", "recv");
  if (channel.kind == BackendKind::kNccl) refuse("recv", "backend nccl cannot receive from any rank; name the sender");
  if (tag < 0) refuse("recv", "the tag is " + std::to_string(tag) + "; it must be 0 or more");
  if (tensor.numel() == 0) refuse("recv", "a receive from any rank needs elements, this is " + describe(tensor));
  Tensors one = {tensor.detach()};
  return Work(channel.backend->recvAnysource(one, tag), {tensor});
}

int ProcessGroup::recv(const at::Tensor& tensor, int from, int tag) {
  Work work;
  now([&] { return work = irecv(tensor, from, tag); });
  return from == kAnyRank ? work.source_rank() : from;
}

Work ProcessGroup::batch_isend_irecv(const std::vector<Message>& messages) {
  const char* name = messages.size() != 1                                  ? "batch_isend_irecv"
                     : messages.front().kind == Message::Kind::kSend ? "send"
                                                                           : "recv";
  Tensors tensors;
  for (const Message& message : messages) tensors.push_back(message.tensor);
  Channel& channel = channel_for(tensors, name);
  std::vector<GroupBackend::Message> native;
  Tensors received;
  for (const Message& message : messages) {
    const bool sends = message.kind == Message::Kind::kSend;
    check_contiguous(message.tensor, "the tensor", name);
    check_rank_of(message.peer, sends ? "receiver" : "sender", name);
    if (message.peer == rank()) refuse(name, "rank " + std::to_string(message.peer) + " is this rank itself");
    if (message.tag < 0) refuse(name, "the tag is " + std::to_string(message.tag) + "; it must be 0 or more");
    if (channel.kind == BackendKind::kGloo && message.tensor.is_cuda()) {
      refuse(name, "backend gloo sends tensors on the CPU, this is " + describe(message.tensor));
    }
    if (!sends) received.push_back(message.tensor);
    if (message.tensor.numel() == 0) continue;
    native.push_back({message.tensor.detach(), message.peer, sends, message.tag});
  }
  if (native.empty()) return Work(nothing_to_do(), received);
  if (native.size() > 1) return Work(channel.backend->exchange(native), received);
  Tensors one = {native[0].tensor};
  return Work(native[0].is_send ? channel.backend->send(one, native[0].peer, native[0].tag)
                                : channel.backend->recv(one, native[0].peer, native[0].tag),
              received);
}

}  // namespace tandem
