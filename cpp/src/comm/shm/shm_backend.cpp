#include "comm/shm/shm_backend.h"

#include <ATen/record_function.h>

#include "comm/runs_here.h"
#include "comm/shm/checks.h"
#include "comm/shm/collectives.h"
#include "comm/shm/lost.h"
#include "comm/shm/message_work.h"
#include "comm/shm/one_host.h"
#include "comm/shm/spin.h"
#include "comm/shm/tensor_calls.h"
#include "tandem/process_group.h"

namespace tandem {

using c10d::OpType;
using shm::check_contiguous;
using shm::check_dense;
using shm::check_list;
using shm::check_place;
using shm::check_root;
using shm::CollectiveKind;
using shm::element_of;
using shm::equal_parts;
using shm::Kernel;
using shm::kernel_for;
using shm::Label;
using shm::label_of;
using shm::only;
using shm::Performer;
using shm::piece_of;
using shm::Pieces;
using shm::pieces_of;
using shm::refuse;
using shm::split_parts;
using Deadline = Performer::Deadline;
using Tensors = std::vector<at::Tensor>;

// What a collective is made of.
struct ShmBackend::Call {
  OpType type;
  const char* title;
  Label label;
  std::chrono::milliseconds timeout;
  bool async = true;
  at::TensorList result;
  at::TensorList held;
};

namespace {

using ConnectionsPtr = std::shared_ptr<const shm::LocalConnections>;

std::unique_ptr<Performer> make_performer(const GroupState& state, const ConnectionsPtr& peers) {
  return std::make_unique<shm::OneHost>(std::make_unique<shm::Exchange>(peers, state.shared_latch()));
}

std::shared_ptr<shm::Messenger> make_messenger(const GroupState& state, const ConnectionsPtr& peers) {
  auto& board = *reinterpret_cast<shm::Board*>(peers->segments[state.rank()]->data());
  return std::make_shared<shm::Messenger>(
      std::make_unique<shm::Mailbox>(peers->ranks.whereabouts(), state.rank(), peers), board.message_event,
      shm::SpinTime::for_ranks(state.size()).program, state.shared_latch());
}

}  // namespace

ShmBackend::ShmBackend(std::shared_ptr<GroupState> state, const std::shared_ptr<const shm::LocalConnections>& peers,
                       std::chrono::milliseconds timeout)
    : ShmBackend(state, peers, make_performer(*state, peers), timeout) {
  messenger_ = make_messenger(*state, peers);
  state->set_lost_peer([weak = std::weak_ptr<const shm::LocalConnections>(peers)]() -> std::optional<Error> {
    const auto peers = weak.lock();
    for (int rank = 0; peers && rank < peers->ranks.size(); ++rank) {
      if (rank == peers->ranks.self) continue;
      const auto& board = *reinterpret_cast<const shm::Board*>(peers->segments[rank]->data());
      if (shm::has_ended(board) || peers->is_gone(rank)) return shm::lost(board, rank);
    }
    return std::nullopt;
  });
}

ShmBackend::ShmBackend(std::shared_ptr<GroupState> state, const std::shared_ptr<const shm::LocalConnections>& peers,
                       std::unique_ptr<shm::Performer> performer, std::chrono::milliseconds timeout)
    : c10d::Backend(state->rank(), state->size()),
      state_(state),
      heap_(std::make_shared<shm::Heap>(peers->segments[peers->ranks.self], shm::heap_begin(peers->segments.size()))),
      queue_(std::make_shared<shm::Queue>(state, std::move(performer))),
      lacks_cores_(peers->ranks.lacks_cores),
      timeout_(timeout) {}

ShmBackend::~ShmBackend() {
  finish("the group was destroyed");
  if (messenger_) messenger_->stop();
  queue_->stop();
}

BackendTraits ShmBackend::traits() const {
  BackendTraits traits;
  traits.takes_lists = traits.runs_when_waited = true;
  traits.lacks_cores = lacks_cores_;
  return traits;
}

void ShmBackend::finish(const std::string& reason) {
  if (queue_->is_idle() && (!messenger_ || messenger_->is_idle())) return queue_->close();
  state_->abort(reason);
  abort(state_->latch().reason_to_end());
}

void ShmBackend::fail(const Error& failure) {
  queue_->fail(failure);
  if (messenger_) messenger_->end();
}

void ShmBackend::abort(const Error& reason) {
  queue_->abort(reason);
  if (messenger_) messenger_->end();
}

template <typename Body>
c10::intrusive_ptr<c10d::Work> ShmBackend::issue(Call call, Body body) {
  call.label.sequence = state_->collectives() - 1;  // of the one that GroupBackend has just begun
  if (call.timeout == c10d::kUnsetTimeout) call.timeout = timeout_;
  const auto recorded = [&](Performer& performer, const Label& label, Deadline deadline) {
    RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::USER_SCOPE, call.title, {});
    body(performer, label, deadline);
  };
  if (RunsHere::now() && queue_->run_here(call.label, call.timeout, recorded)) {
    RunsHere::ran(call.type);
    return nullptr;
  }
  auto work = c10::make_intrusive<shm::Work>(queue_, getRank(), call.type, call.title, call.label, std::move(body),
                                             call.timeout, call.result.vec(), call.held.vec());
  queue_->submit(work, /*soon=*/!call.async || WaitsAtOnce::now());
  if (!call.async) queue_->help(*work);
  return work;
}

c10::intrusive_ptr<c10d::Work> ShmBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  const at::Tensor& tensor = only(CollectiveKind::kAllReduce, tensors);
  check_dense(CollectiveKind::kAllReduce, tensor);
  Label label = label_of(CollectiveKind::kAllReduce, tensor.nbytes());
  label.extent = heap_->place_of(static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes());
  const Kernel kernel = kernel_for(&label, tensor, options.reduceOp);
  return issue({OpType::ALLREDUCE, "shm:all_reduce", label, options.timeout, options.asyncOp, tensors, {}},
               [kernel, data = piece_of(tensor)](Performer& performer, const Label& label, Deadline deadline) {
                 performer.all_reduce(label, deadline, kernel, data);
               });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::allreduce_coalesced(Tensors& tensors,
                                                               const c10d::AllreduceCoalescedOptions& options) {
  Pieces data;
  for (const at::Tensor& tensor : tensors) {
    check_dense(CollectiveKind::kAllReduce, tensor);
    if (tensor.scalar_type() != tensors.front().scalar_type()) {
      refuse(CollectiveKind::kAllReduce, describe(tensor) + " and " + describe(tensors.front()) +
                                             " cannot be reduced together; they must have one dtype");
    }
    data.add(static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes());
  }
  if (tensors.empty()) refuse(CollectiveKind::kAllReduce, "got no tensors");
  Label label = label_of(CollectiveKind::kAllReduce, data.bytes());
  const Kernel kernel = kernel_for(&label, tensors.front(), options.reduceOp);
  return issue({OpType::ALLREDUCE_COALESCED, "shm:all_reduce", label, options.timeout, options.asyncOp, tensors, {}},
               [kernel, data](Performer& performer, const Label& label, Deadline deadline) {
                 performer.all_reduce(label, deadline, kernel, data);
               });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  const at::Tensor& tensor = only(CollectiveKind::kReduce, tensors);
  check_dense(CollectiveKind::kReduce, tensor);
  check_root(CollectiveKind::kReduce, options.rootRank, getSize());
  Label label = label_of(CollectiveKind::kReduce, tensor.nbytes(), options.rootRank);
  const Kernel kernel = kernel_for(&label, tensor, options.reduceOp);
  return issue({OpType::REDUCE, "shm:reduce", label, options.timeout, options.asyncOp, tensors, {}},
               [kernel, data = piece_of(tensor)](Performer& performer, const Label& label, Deadline deadline) {
                 performer.reduce(label, deadline, kernel, data);
               });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  const at::Tensor& tensor = only(CollectiveKind::kBroadcast, tensors);
  check_dense(CollectiveKind::kBroadcast, tensor);
  check_root(CollectiveKind::kBroadcast, options.rootRank, getSize());
  Label label = label_of(CollectiveKind::kBroadcast, tensor.nbytes(), options.rootRank);
  label.element = element_of(tensor.scalar_type());
  return issue({OpType::BROADCAST, "shm:broadcast", label, options.timeout, options.asyncOp, tensors, {}},
               [data = piece_of(tensor)](Performer& performer, const Label& label, Deadline deadline) {
                 performer.broadcast(label, deadline, data);
               });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                                     const c10d::AllgatherOptions& options) {
  const at::Tensor& input = only(CollectiveKind::kAllGather, inputs);
  check_contiguous(CollectiveKind::kAllGather, input);
  if (outputs.size() != 1) refuse(CollectiveKind::kAllGather, "got other than one list of outputs");
  check_list(CollectiveKind::kAllGather, outputs[0], input, getSize(), "output", /*even=*/false);
  const at::Tensor& own = outputs[0][getRank()];
  if (own.numel() != input.numel()) {
    refuse(CollectiveKind::kAllGather, "output " + std::to_string(getRank()) + ", this rank's, is " + describe(own) +
                                           ", but the input is " + describe(input));
  }
  Label label = label_of(CollectiveKind::kAllGather, 0);
  label.element = element_of(input.scalar_type());
  label.extent = input.nbytes();
  return issue({OpType::ALLGATHER, "shm:all_gather", label, options.timeout, options.asyncOp, outputs[0], inputs},
               [to = pieces_of(outputs[0]), from = piece_of(input)](Performer& performer, const Label& label,
                                                                    Deadline deadline) {
                 performer.all_gather(label, deadline, to, from);
               });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                           const c10d::AllgatherOptions& options) {
  Tensors outputs = {output};
  Tensors inputs = {input};
  return allgather_into_tensor_coalesced(outputs, inputs, options);
}

c10::intrusive_ptr<c10d::Work> ShmBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                           const c10d::AllgatherOptions& options) {
  if (outputs.size() != inputs.size() || inputs.empty()) {
    refuse(CollectiveKind::kAllGather, "got " + std::to_string(outputs.size()) + " outputs for " +
                                           std::to_string(inputs.size()) + " inputs; give one for each");
  }
  std::vector<Pieces> to(getSize());
  Pieces from;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_contiguous(CollectiveKind::kAllGather, inputs[i]);
    check_contiguous(CollectiveKind::kAllGather, outputs[i]);
    if (outputs[i].scalar_type() != inputs[i].scalar_type() || outputs[i].numel() != inputs[i].numel() * getSize()) {
      refuse(CollectiveKind::kAllGather, "the output is " + describe(outputs[i]) + ", but the input " +
                                             describe(inputs[i]) + "; it must be " + std::to_string(getSize()) +
                                             " times as large");
    }
    from.add(static_cast<std::byte*>(inputs[i].mutable_data_ptr()), inputs[i].nbytes());
    auto* data = static_cast<std::byte*>(outputs[i].mutable_data_ptr());
    for (int rank = 0; rank < getSize(); ++rank) to[rank].add(data + rank * inputs[i].nbytes(), inputs[i].nbytes());
  }
  Label label = label_of(CollectiveKind::kAllGather, 0);
  label.element = element_of(inputs[0].scalar_type());
  label.extent = from.bytes();
  return issue({OpType::_ALLGATHER_BASE, "shm:all_gather", label, options.timeout, options.asyncOp, outputs, inputs},
               [to = std::move(to), from](Performer& performer, const Label& label, Deadline deadline) {
                 performer.all_gather(label, deadline, to, from);
               });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                                  const c10d::GatherOptions& options) {
  const at::Tensor& input = only(CollectiveKind::kGather, inputs);
  check_contiguous(CollectiveKind::kGather, input);
  check_root(CollectiveKind::kGather, options.rootRank, getSize());
  const bool is_root = options.rootRank == getRank();
  if (outputs.size() != (is_root ? 1u : 0u)) {
    refuse(CollectiveKind::kGather, "the root, and no other rank, gives one list of outputs");
  }
  if (is_root) check_list(CollectiveKind::kGather, outputs[0], input, getSize(), "output", /*even=*/true);
  Tensors result = is_root ? outputs[0] : Tensors();
  Label label = label_of(CollectiveKind::kGather, input.nbytes(), options.rootRank);
  label.element = element_of(input.scalar_type());
  auto to = pieces_of(result);
  return issue(
      {OpType::GATHER, "shm:gather", label, options.timeout, options.asyncOp, result, inputs},
      [to = std::move(to), from = piece_of(input)](Performer& performer, const Label& label, Deadline deadline) {
        performer.gather(label, deadline, to, from);
      });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                                   const c10d::ScatterOptions& options) {
  const at::Tensor& output = only(CollectiveKind::kScatter, outputs);
  check_contiguous(CollectiveKind::kScatter, output);
  check_root(CollectiveKind::kScatter, options.rootRank, getSize());
  const bool is_root = options.rootRank == getRank();
  if (inputs.size() != (is_root ? 1u : 0u)) {
    refuse(CollectiveKind::kScatter, "the root, and no other rank, gives one list of inputs");
  }
  if (is_root) check_list(CollectiveKind::kScatter, inputs[0], output, getSize(), "input", /*even=*/true);
  Tensors held = is_root ? inputs[0] : Tensors();
  Label label = label_of(CollectiveKind::kScatter, output.nbytes(), options.rootRank);
  label.element = element_of(output.scalar_type());
  auto from = pieces_of(held);
  return issue(
      {OpType::SCATTER, "shm:scatter", label, options.timeout, options.asyncOp, outputs, held},
      [from = std::move(from), to = piece_of(output)](Performer& performer, const Label& label, Deadline deadline) {
        performer.scatter(label, deadline, from, to);
      });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                                          const c10d::ReduceScatterOptions& options) {
  const at::Tensor& output = only(CollectiveKind::kReduceScatter, outputs);
  check_contiguous(CollectiveKind::kReduceScatter, output);
  if (inputs.size() != 1) refuse(CollectiveKind::kReduceScatter, "got other than one list of inputs");
  check_list(CollectiveKind::kReduceScatter, inputs[0], output, getSize(), "input", /*even=*/false);
  const at::Tensor& own = inputs[0][getRank()];
  if (own.numel() != output.numel()) {
    refuse(CollectiveKind::kReduceScatter, "input " + std::to_string(getRank()) + ", this rank's, is " + describe(own) +
                                               ", but the output is " + describe(output));
  }
  std::size_t bytes = 0;
  for (const at::Tensor& input : inputs[0]) bytes += input.nbytes();
  Label label = label_of(CollectiveKind::kReduceScatter, bytes);
  const Kernel kernel = kernel_for(&label, output, options.reduceOp);
  return issue(
      {OpType::REDUCE_SCATTER, "shm:reduce_scatter", label, options.timeout, options.asyncOp, outputs, inputs[0]},
      [kernel, from = pieces_of(inputs[0]), to = static_cast<std::byte*>(output.mutable_data_ptr())](
          Performer& performer, const Label& label, Deadline deadline) {
        performer.reduce_scatter(label, deadline, kernel, from, to);
      });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                                const c10d::ReduceScatterOptions& options) {
  Tensors outputs = {output};
  Tensors inputs = {input};
  return reduce_scatter_tensor_coalesced(outputs, inputs, options);
}

c10::intrusive_ptr<c10d::Work> ShmBackend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                           const c10d::ReduceScatterOptions& options) {
  if (outputs.size() != inputs.size() || inputs.empty()) {
    refuse(CollectiveKind::kReduceScatter, "got " + std::to_string(outputs.size()) + " outputs for " +
                                               std::to_string(inputs.size()) + " inputs; give one for each");
  }
  c10::intrusive_ptr<c10d::Work> last;
  Tensors held = inputs;
  held.insert(held.end(), outputs.begin(), outputs.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_contiguous(CollectiveKind::kReduceScatter, inputs[i]);
    check_contiguous(CollectiveKind::kReduceScatter, outputs[i]);
    if (outputs[i].scalar_type() != inputs[i].scalar_type() || inputs[i].numel() != outputs[i].numel() * getSize()) {
      refuse(CollectiveKind::kReduceScatter, "the output is " + describe(outputs[i]) + ", but the input " +
                                                 describe(inputs[i]) + "; it must be " + std::to_string(getSize()) +
                                                 " times as large");
    }
  }
  // One after the other; they end in order, so the last one's end is that of all, and its failure every failure.
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Label label = label_of(CollectiveKind::kReduceScatter, inputs[i].nbytes());
    const Kernel kernel = kernel_for(&label, outputs[i], options.reduceOp);
    const bool is_last = i + 1 == inputs.size();
    last = issue(
        {OpType::_REDUCE_SCATTER_BASE, "shm:reduce_scatter", label, options.timeout, is_last ? options.asyncOp : true,
         is_last ? at::TensorList(outputs) : at::TensorList(), held},
        [kernel, from = equal_parts(inputs[i], getSize()), to = static_cast<std::byte*>(outputs[i].mutable_data_ptr())](
            Performer& performer, const Label& label, Deadline deadline) {
          performer.reduce_scatter(label, deadline, kernel, from, to);
        });
  }
  return last;
}

c10::intrusive_ptr<c10d::Work> ShmBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                         std::vector<int64_t>& output_splits,
                                                         std::vector<int64_t>& input_splits,
                                                         const c10d::AllToAllOptions& options) {
  check_contiguous(CollectiveKind::kAllToAll, input);
  check_contiguous(CollectiveKind::kAllToAll, output);
  if (output.scalar_type() != input.scalar_type()) {
    refuse(CollectiveKind::kAllToAll, "the output is " + describe(output) + ", but the input " + describe(input));
  }
  auto to = split_parts(output, output_splits, getSize(), "output");
  auto from = split_parts(input, input_splits, getSize(), "input");
  if (to[getRank()].bytes() != from[getRank()].bytes()) {
    refuse(CollectiveKind::kAllToAll, "this rank sends itself " + std::to_string(from[getRank()].bytes()) +
                                          " bytes, but expects " + std::to_string(to[getRank()].bytes()));
  }
  Label label = label_of(CollectiveKind::kAllToAll, 0);
  label.element = element_of(input.scalar_type());
  return issue(
      {OpType::ALLTOALL_BASE, "shm:all_to_all", label, options.timeout, options.asyncOp, output, input},
      [to = std::move(to), from = std::move(from)](Performer& performer, const Label& label, Deadline deadline) {
        performer.all_to_all(label, deadline, to, from);
      });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::alltoall(Tensors& outputs, Tensors& inputs,
                                                    const c10d::AllToAllOptions& options) {
  if (inputs.empty()) refuse(CollectiveKind::kAllToAll, "got no inputs");
  check_place(CollectiveKind::kAllToAll, inputs[0]);
  check_list(CollectiveKind::kAllToAll, inputs, inputs[0], getSize(), "input", /*even=*/false);
  check_list(CollectiveKind::kAllToAll, outputs, inputs[0], getSize(), "output", /*even=*/false);
  if (inputs[getRank()].numel() != outputs[getRank()].numel()) {
    refuse(CollectiveKind::kAllToAll,
           "this rank sends itself " + describe(inputs[getRank()]) + ", but expects " + describe(outputs[getRank()]));
  }
  Label label = label_of(CollectiveKind::kAllToAll, 0);
  label.element = element_of(inputs[0].scalar_type());
  return issue(
      {OpType::ALLTOALL, "shm:all_to_all", label, options.timeout, options.asyncOp, outputs, inputs},
      [to = pieces_of(outputs), from = pieces_of(inputs)](Performer& performer, const Label& label, Deadline deadline) {
        performer.all_to_all(label, deadline, to, from);
      });
}

c10::intrusive_ptr<c10d::Work> ShmBackend::barrier(const c10d::BarrierOptions& options) {
  return issue(
      {OpType::BARRIER, "shm:barrier", label_of(CollectiveKind::kBarrier, 0), options.timeout, options.asyncOp, {}, {}},
      [](Performer& performer, const Label& label, Deadline deadline) { performer.barrier(label, deadline); });
}

void ShmBackend::check_message(const char* call, const Tensors& tensors, std::optional<int> peer, int tag) const {
  check_contiguous(call, only(call, tensors));
  if (peer && (*peer < 0 || *peer >= getSize() || *peer == getRank())) {
    refuse(call, "rank " + std::to_string(*peer) +
                     (*peer == getRank() ? " is this rank itself"
                                         : " is no other rank of a group of " + std::to_string(getSize())));
  }
  if (tag < 0) refuse(call, "the tag is " + std::to_string(tag) + "; it must be 0 or more");
}

c10::intrusive_ptr<c10d::Work> ShmBackend::start_message(OpType type, const char* call, const char* title,
                                                         Tensors& tensors, int peer, int tag) {
  const bool is_any = type == OpType::RECVANYSOURCE;
  check_message(call, tensors, is_any ? std::nullopt : std::optional(peer), tag);
  const at::Tensor& tensor = tensors.front();
  shm::Message message;
  message.is_send = type == OpType::SEND;
  message.peer = peer;
  message.tag = tag;
  message.deadline = shm::Message::Clock::now() + timeout_.load();
  return shm::MessageWork::start(messenger_, getRank(), type, title, tensor, std::move(message));
}

c10::intrusive_ptr<c10d::Work> ShmBackend::send(Tensors& tensors, int to, int tag) {
  return start_message(OpType::SEND, "send", "shm:send", tensors, to, tag);
}

c10::intrusive_ptr<c10d::Work> ShmBackend::recv(Tensors& tensors, int from, int tag) {
  return start_message(OpType::RECV, "recv", "shm:recv", tensors, from, tag);
}

c10::intrusive_ptr<c10d::Work> ShmBackend::recvAnysource(Tensors& tensors, int tag) {
  return start_message(OpType::RECVANYSOURCE, "recv", "shm:recvAnySource", tensors, shm::Message::kAnyRank, tag);
}

}  // namespace tandem
