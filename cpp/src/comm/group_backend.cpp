#include "comm/group_backend.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/own_thread.h"
#include "comm/finished_work.h"
#include "comm/issue_turns.h"
#include "comm/message_handle.h"
#include "comm/runs_here.h"
#include "comm/staging.h"
#include "comm/traits_for_cpu.h"
#include "tandem/process_group.h"

namespace tandem {
namespace {

using Tensors = GroupBackend::Tensors;

// For a backend's threads, once connections have ended.
constexpr std::chrono::milliseconds kUntilEnded{500};

// What ranks must agree on, as text.
std::string call_of(const Tensors& tensors) {
  std::string text;
  for (const at::Tensor& tensor : tensors) text += " " + describe(tensor);
  return text;
}
std::string with_op(const c10d::ReduceOp& op, const Tensors& tensors) {
  return " " + name_of(op) + call_of(tensors);
}
std::string with_root(std::int64_t root, const Tensors& tensors) {
  return " with root " + std::to_string(root) + call_of(tensors);
}

Tensors flattened(const std::vector<Tensors>& lists) {
  Tensors all;
  for (const Tensors& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

at::Tensor flat(const at::Tensor& tensor) {
  return tensor.detach().contiguous().view({-1});
}

}  // namespace

c10::intrusive_ptr<GroupBackend> GroupBackend::make(const std::shared_ptr<GroupState>& state, ControlledBackend inner,
                                                    std::shared_ptr<CollectiveCheck> check) {
  const std::weak_ptr<BackendControl> control = inner.control;
  auto backend = c10::make_intrusive<GroupBackend>(state, std::move(inner), std::move(check));
  state->latch().listen([control](const Error& reason) {
    const auto held = control.lock();
    if (!held) return;
    reason.code() == ErrorCode::kAborted ? held->abort(reason) : held->fail(reason);
  });
  state->latch().listen([weak = std::weak_ptr<GroupState>(state)](const Error&) {
    if (const auto held = weak.lock()) held->end_connections();
  });
  return backend;
}

GroupBackend::GroupBackend(std::shared_ptr<GroupState> state, ControlledBackend inner,
                           std::shared_ptr<CollectiveCheck> check)
    : c10d::Backend(state->rank(), state->size()),
      state_(std::move(state)),
      inner_(std::move(inner.backend)),
      control_(std::move(inner.control)),
      traits_(control_->traits()),
      check_(std::move(check)) {}

// Gloo's destructor waits for its threads, and Gloo tells of a lost connection not every send that is under way: such a
// thread waits until the timeout, which nothing ends. It does that beside the program.
GroupBackend::~GroupBackend() {
  if (!traits_.ends_late || state_->wait_until_idle(kUntilEnded)) return;
  try {
    start_own_thread("tandem-ends", [inner = std::move(inner_), control = std::move(control_)] {}).detach();
  } catch (const std::system_error&) {
    // No thread can be had: then it is waited for here.
  }
}

template <typename Issue>
auto GroupBackend::issue_in_turn(Issue&& issue) {
  if (!traits_.in_turns) return issue();
  std::lock_guard<std::mutex> lock(turn_to_issue());
  return issue();
}

template <typename Call, typename Issue>
GroupBackend::WorkPtr GroupBackend::run(const Called& called, Tensors results, int peer, Call&& call, Issue&& issue,
                                        std::function<void()> finish) {
  Collective collective = state_->begin(called.name, std::move(results), peer);
  if (called.timeout != c10d::kUnsetTimeout) collective.timeout = called.timeout;
  try {
    if (check_) check_->check(collective, std::string(called.name) + call());
    const bool runs_here = traits_.runs_when_waited && !finish && WaitsAtOnce::now();
    std::optional<GroupState::Running> running;
    if (runs_here) {
      running.emplace(*state_);
      state_->check_usable(called.name);  // a close() after begin() did not know of it
    }
    const RunsHere here(runs_here);
    GuardedWork::Inner inner = issue_in_turn([&]() -> GuardedWork::Inner {
      if constexpr (std::is_convertible_v<decltype(issue()), WorkPtr>) {
        return {issue()};
      } else {
        return issue();
      }
    });
    if (!traits_.completes) return GuardedWork::start_on_stream(state_, collective, inner.front());
    if (runs_here) return run_here(collective, inner, here.type());
    return GuardedWork::start(state_, collective, std::move(inner), std::move(finish), traits_.runs_when_waited);
  } catch (...) {
    state_->rethrow_failure(collective);
  }
}

// No guard, and no future: their making takes longer than a small collective of one host.
GroupBackend::WorkPtr GroupBackend::run_here(Collective& collective, const GuardedWork::Inner& inner,
                                             c10d::OpType type) {
  {
    const WaitsAtOnce not_what_callbacks_start(false);
    for (const auto& one : inner) {
      if (!one) continue;  // it has run
      one->wait();
      type = one->retrieveOpType();
    }
  }
  state_->note_success(type);
  state_->record_end(collective, "");
  return c10::make_intrusive<FinishedWork>(getRank(), type, std::move(collective.tensors), collective.sequence);
}

template <typename Issue>
GroupBackend::WorkPtr GroupBackend::run_messages(const char* name, Tensors tensors, int peer, Issue&& issue) {
  Collective collective = state_->begin(name, std::move(tensors), peer, /*point_to_point=*/true);
  try {
    GuardedWork::Inner inner = issue_in_turn(issue);
    if (!traits_.completes) return GuardedWork::start_on_stream(state_, collective, inner.front());
    if (!traits_.waits_for_messages) {
      return GuardedWork::start(state_, collective, std::move(inner), nullptr, traits_.runs_when_waited);
    }
    return c10::make_intrusive<MessageHandle>(
        GuardedWork::start_waited(state_, collective, std::move(inner), helpers_));
  } catch (...) {
    state_->rethrow_failure(collective);
  }
}

GroupBackend::WorkPtr GroupBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  if (needs_staging(tensors)) {
    return staged(tensors, [&](auto& copies) { return broadcast(copies, options); });
  }
  return run({"broadcast", options.timeout}, tensors, static_cast<int>(options.rootRank),
             [&] { return with_root(options.rootRank, tensors); }, [&] { return inner_->broadcast(tensors, options); });
}

GroupBackend::WorkPtr GroupBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  if (needs_staging(tensors)) {
    return staged(tensors, [&](auto& copies) { return allreduce(copies, options); });
  }
  c10d::AllreduceOptions native = options;
  std::function<void()> finish;
  if (options.reduceOp == c10d::ReduceOp::AVG && !traits_.averages) {
    native.reduceOp = c10d::ReduceOp::SUM;
    finish = [tensors, size = getSize()] { divide(tensors, size); };
  }
  return run({"all_reduce", options.timeout}, tensors, -1, [&] { return with_op(options.reduceOp, tensors); },
             [&] { return inner_->allreduce(tensors, native); }, std::move(finish));
}

GroupBackend::WorkPtr GroupBackend::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) {
  return run({"all_reduce", options.timeout}, tensors, -1, [&] { return with_op(options.reduceOp, tensors); },
             [&] { return inner_->allreduce_sparse(tensors, options); });
}

GroupBackend::WorkPtr GroupBackend::allreduce_coalesced(Tensors& tensors,
                                                        const c10d::AllreduceCoalescedOptions& options) {
  if (needs_staging(tensors)) {
    return staged(tensors, [&](auto& copies) { return allreduce_coalesced(copies, options); });
  }
  if (!traits_.completes || traits_.takes_lists) {
    return run({"all_reduce_coalesced", options.timeout}, tensors, -1,
               [&] { return with_op(options.reduceOp, tensors); },
               [&] { return inner_->allreduce_coalesced(tensors, options); });
  }
  std::vector<Reduction> reductions;
  for (const at::Tensor& tensor : tensors) reductions.push_back({tensor, options.reduceOp});
  return allreduce_many(reductions);
}

// Where the backend takes no lists, what a message consists of is copied, once in and once out.
GroupBackend::WorkPtr GroupBackend::allreduce_many(const std::vector<Reduction>& reductions) {
  if (std::ranges::any_of(reductions, [](const Reduction& one) { return needs_staging(one.tensor); })) {
    Staging staging;
    std::vector<Reduction> copies;
    for (const Reduction& one : reductions) copies.push_back({staging.written(one.tensor), one.op});
    return staging.work(allreduce_many(copies));
  }
  struct Joined {
    at::Tensor buffer;
    c10d::ReduceOp op;
    Tensors parts;
  };
  std::map<at::ScalarType, Joined> by_dtype;
  Tensors tensors;
  for (const Reduction& reduction : reductions) {
    Joined& joined = by_dtype[reduction.tensor.scalar_type()];
    joined.op = reduction.op;
    joined.parts.push_back(reduction.tensor);
    tensors.push_back(reduction.tensor);
  }
  if (traits_.takes_lists) {
    return run("all_reduce_coalesced", tensors, -1, [&] { return with_op(reductions.front().op, tensors); }, [&] {
      GuardedWork::Inner works;
      for (auto& [dtype, joined] : by_dtype) {
        c10d::AllreduceCoalescedOptions options;
        options.reduceOp = joined.op;
        works.push_back(inner_->allreduce_coalesced(joined.parts, options));
      }
      return works;
    });
  }
  for (auto& [dtype, joined] : by_dtype) {
    Tensors parts;
    for (const at::Tensor& part : joined.parts) parts.push_back(flat(part));
    joined.buffer = at::cat(parts);
  }
  const auto divides = [this](const Joined& joined) {
    return joined.op == c10d::ReduceOp::AVG && !traits_.averages;
  };
  const auto issue = [&] {
    GuardedWork::Inner works;
    for (const auto& [dtype, joined] : by_dtype) {
      c10d::AllreduceOptions options;
      options.reduceOp = divides(joined) ? c10d::ReduceOp(c10d::ReduceOp::SUM) : joined.op;
      Tensors one = {joined.buffer};
      works.push_back(inner_->allreduce(one, options));
    }
    return works;
  };
  std::vector<std::pair<Joined, bool>> results;
  for (const auto& [dtype, joined] : by_dtype) results.emplace_back(joined, divides(joined));
  return run("all_reduce_coalesced", tensors, -1, [&] { return with_op(reductions.front().op, tensors); }, issue,
             [results, size = getSize()] {
               at::NoGradGuard no_grad;
               for (const auto& [joined, is_average] : results) {
                 if (is_average) divide({joined.buffer}, size);
                 std::int64_t offset = 0;
                 for (const at::Tensor& part : joined.parts) {
                   part.detach().copy_(joined.buffer.narrow(0, offset, part.numel()).view(part.sizes()));
                   offset += part.numel();
                 }
               }
             });
}

GroupBackend::WorkPtr GroupBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  if (needs_staging(tensors)) {
    return staged(tensors, [&](auto& copies) { return reduce(copies, options); });
  }
  c10d::ReduceOptions native = options;
  std::function<void()> finish;
  if (options.reduceOp == c10d::ReduceOp::AVG && !traits_.averages) {
    native.reduceOp = c10d::ReduceOp::SUM;
    if (options.rootRank == getRank()) finish = [tensors, size = getSize()] { divide(tensors, size); };
  }
  return run({"reduce", options.timeout}, tensors, static_cast<int>(options.rootRank),
             [&] { return with_root(options.rootRank, {}) + with_op(options.reduceOp, tensors); },
             [&] { return inner_->reduce(tensors, native); }, std::move(finish));
}

GroupBackend::WorkPtr GroupBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                              const c10d::AllgatherOptions& options) {
  if (needs_staging(inputs)) {
    return staged(outputs, inputs, [&](auto& to, auto& from) { return allgather(to, from, options); });
  }
  return run({"all_gather", options.timeout}, flattened(outputs), -1, [&] { return call_of(flattened(outputs)); },
             [&] { return inner_->allgather(outputs, inputs, options); });
}

GroupBackend::WorkPtr GroupBackend::allgather_uneven(Tensors outputs, const at::Tensor& input) {
  if (needs_staging(input)) {
    return staged(outputs, input, [&](auto& to, auto& from) { return allgather_uneven(to, from); });
  }
  if (!traits_.completes || traits_.takes_lists) {
    std::vector<Tensors> lists = {outputs};
    Tensors inputs = {input};
    return run("all_gather", outputs, -1, [&] { return call_of(outputs); },
               [&] { return inner_->allgather(lists, inputs, {}); });
  }
  at::NoGradGuard no_grad;
  if (input.numel() != 0) outputs[getRank()].copy_(input);
  return run("all_gather", outputs, -1, [&] { return call_of(outputs); },
             [&] {
               GuardedWork::Inner works;
               for (std::size_t rank = 0; rank < outputs.size(); ++rank) {
                 if (outputs[rank].numel() == 0) continue;
                 c10d::BroadcastOptions options;
                 options.rootRank = static_cast<std::int64_t>(rank);
                 Tensors one = {outputs[rank]};
                 works.push_back(inner_->broadcast(one, options));
               }
               return works;
             });
}

GroupBackend::WorkPtr GroupBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                    const c10d::AllgatherOptions& options) {
  if (needs_staging(input)) {
    return staged(output, input, [&](auto& to, auto& from) { return _allgather_base(to, from, options); });
  }
  return run({"all_gather_into_tensor", options.timeout}, {output}, -1, [&] { return call_of({input}); },
             [&] { return inner_->_allgather_base(output, input, options); });
}

GroupBackend::WorkPtr GroupBackend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                                        const c10d::AllgatherOptions& options) {
  return run({"all_gather_coalesced", options.timeout}, flattened(outputs), -1, [&] { return call_of(inputs); },
             [&] { return inner_->allgather_coalesced(outputs, inputs, options); });
}

GroupBackend::WorkPtr GroupBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                    const c10d::AllgatherOptions& options) {
  return run({"all_gather_into_tensor_coalesced", options.timeout}, outputs, -1, [&] { return call_of(inputs); },
             [&] { return inner_->allgather_into_tensor_coalesced(outputs, inputs, options); });
}

GroupBackend::WorkPtr GroupBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                           const c10d::GatherOptions& options) {
  if (needs_staging(inputs)) {
    return staged(outputs, inputs, [&](auto& to, auto& from) { return gather(to, from, options); });
  }
  return run({"gather", options.timeout}, flattened(outputs), static_cast<int>(options.rootRank),
             [&] { return with_root(options.rootRank, inputs); },
             [&] { return inner_->gather(outputs, inputs, options); });
}

GroupBackend::WorkPtr GroupBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                            const c10d::ScatterOptions& options) {
  if (needs_staging(outputs)) {
    return staged(outputs, inputs, [&](auto& to, auto& from) { return scatter(to, from, options); });
  }
  return run({"scatter", options.timeout}, outputs, static_cast<int>(options.rootRank),
             [&] { return with_root(options.rootRank, outputs); },
             [&] { return inner_->scatter(outputs, inputs, options); });
}

// Every rank sends its share to each other and reduces what it gets, in order of rank: each element crosses the network
// once, where an all-reduce would send it twice.
GroupBackend::WorkPtr GroupBackend::compose_reduce_scatter(const char* name, const Tensors& inputs,
                                                           const at::Tensor& output, const c10d::ReduceOp& op) {
  Tensors parts;
  std::vector<int64_t> sent, received(getSize(), output.numel());
  for (const at::Tensor& input : inputs) {
    parts.push_back(flat(input));
    sent.push_back(input.numel());
  }
  at::Tensor all = parts.size() == 1 ? parts[0] : at::cat(parts);
  if (parts.size() == 1) sent.assign(getSize(), all.numel() / getSize());
  at::Tensor rows = at::empty({getSize() * output.numel()}, all.options());
  // Bytes can be moved whatever they mean.
  at::Tensor from = all.view(at::kByte), to = rows.view(at::kByte);
  const std::int64_t width = static_cast<std::int64_t>(all.element_size());
  for (auto& count : sent) count *= width;
  for (auto& count : received) count *= width;
  return run(name, {output}, -1, [&] { return with_op(op, inputs); },
             [&] { return inner_->alltoall_base(to, from, received, sent, {}); },
             [rows, output, op, size = getSize()] {
               if (output.numel() != 0) reduce_rows(rows.view({size, -1}), output, op);
             });
}

GroupBackend::WorkPtr GroupBackend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                                   const c10d::ReduceScatterOptions& options) {
  if (needs_staging(outputs)) {
    return staged(outputs, inputs, [&](auto& to, auto& from) { return reduce_scatter(to, from, options); });
  }
  if (!traits_.reduces_scattered) {
    return compose_reduce_scatter("reduce_scatter", inputs.at(0), outputs.at(0), options.reduceOp);
  }
  return run({"reduce_scatter", options.timeout}, outputs, -1,
             [&] { return with_op(options.reduceOp, flattened(inputs)); },
             [&] { return inner_->reduce_scatter(outputs, inputs, options); });
}

GroupBackend::WorkPtr GroupBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                         const c10d::ReduceScatterOptions& options) {
  if (needs_staging(input)) {
    return staged(output, input, [&](auto& to, auto& from) { return _reduce_scatter_base(to, from, options); });
  }
  if (!traits_.reduces_scattered) {
    return compose_reduce_scatter("reduce_scatter_tensor", {input}, output, options.reduceOp);
  }
  return run({"reduce_scatter_tensor", options.timeout}, {output}, -1,
             [&] { return with_op(options.reduceOp, {input}); },
             [&] { return inner_->_reduce_scatter_base(output, input, options); });
}

GroupBackend::WorkPtr GroupBackend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                    const c10d::ReduceScatterOptions& options) {
  return run({"reduce_scatter_tensor_coalesced", options.timeout}, outputs, -1,
             [&] { return with_op(options.reduceOp, inputs); },
             [&] { return inner_->reduce_scatter_tensor_coalesced(outputs, inputs, options); });
}

GroupBackend::WorkPtr GroupBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                  std::vector<int64_t>& output_splits,
                                                  std::vector<int64_t>& input_splits,
                                                  const c10d::AllToAllOptions& options) {
  if (needs_staging(input)) {
    return staged(output, input,
                  [&](auto& to, auto& from) { return alltoall_base(to, from, output_splits, input_splits, options); });
  }
  // With splits each rank's shapes are its own.
  const auto call = [&] {
    return input_splits.empty() && output_splits.empty() ? call_of({input})
                                                         : c10::str(" with splits of ", input.scalar_type());
  };
  return run({"all_to_all_single", options.timeout}, {output}, -1, call,
             [&] { return inner_->alltoall_base(output, input, output_splits, input_splits, options); });
}

GroupBackend::WorkPtr GroupBackend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  if (needs_staging(outputs)) {
    return staged(outputs, inputs, [&](auto& to, auto& from) { return alltoall(to, from, options); });
  }
  const auto call = [&] { return c10::str(" of ", inputs.at(0).scalar_type()); };
  if (!traits_.completes || traits_.takes_lists) {
    return run({"all_to_all", options.timeout}, outputs, -1, call,
               [&] { return inner_->alltoall(outputs, inputs, options); });
  }
  Tensors parts;
  std::vector<int64_t> sent, received;
  std::int64_t arriving = 0;
  for (const at::Tensor& input : inputs) {
    parts.push_back(flat(input));
    sent.push_back(input.numel());
  }
  for (const at::Tensor& output : outputs) {
    received.push_back(output.numel());
    arriving += output.numel();
  }
  at::Tensor from = at::cat(parts);
  at::Tensor to = at::empty({arriving}, from.options());
  return run({"all_to_all", options.timeout}, outputs, -1, call,
             [&] { return inner_->alltoall_base(to, from, received, sent, options); },
             [to, outputs] {
               at::NoGradGuard no_grad;
               std::int64_t offset = 0;
               for (const at::Tensor& output : outputs) {
                 output.detach().copy_(to.narrow(0, offset, output.numel()).view(output.sizes()));
                 offset += output.numel();
               }
             });
}

GroupBackend::WorkPtr GroupBackend::send(Tensors& tensors, int to, int tag) {
  if (needs_staging(tensors)) {
    Tensors copies = Staging::read(tensors);
    return send(copies, to, tag);
  }
  return run_messages("send", tensors, to,
                      [&] { return GuardedWork::Inner{inner_->send(tensors, to, tag)}; });
}

GroupBackend::WorkPtr GroupBackend::recv(Tensors& tensors, int from, int tag) {
  if (needs_staging(tensors)) {
    return staged(tensors, [&](auto& copies) { return recv(copies, from, tag); });
  }
  return run_messages("recv", tensors, from,
                      [&] { return GuardedWork::Inner{inner_->recv(tensors, from, tag)}; });
}

GroupBackend::WorkPtr GroupBackend::recvAnysource(Tensors& tensors, int tag) {
  if (needs_staging(tensors)) {
    return staged(tensors, [&](auto& copies) { return recvAnysource(copies, tag); });
  }
  return run_messages("recv", tensors, -1,
                      [&] { return GuardedWork::Inner{inner_->recvAnysource(tensors, tag)}; });
}

GroupBackend::WorkPtr GroupBackend::exchange(const std::vector<Message>& messages) {
  if (std::ranges::any_of(messages, [](const Message& one) { return needs_staging(one.tensor); })) {
    Staging staging;
    std::vector<Message> copies = messages;
    for (Message& one : copies) one.tensor = one.is_send ? Staging::read(one.tensor) : staging.written(one.tensor);
    return staging.work(exchange(copies));
  }
  Tensors tensors;
  for (const Message& message : messages) tensors.push_back(message.tensor);
  return run_messages("batch_isend_irecv", tensors, -1, [&] {
    GuardedWork::Inner works;
    const bool as_one = inner_->supportsCoalescing();
    if (as_one) inner_->startCoalescing();
    try {
      for (const Message& message : messages) {
        Tensors one = {message.tensor};
        works.push_back(message.is_send ? inner_->send(one, message.peer, message.tag)
                                        : inner_->recv(one, message.peer, message.tag));
      }
    } catch (...) {
      if (as_one) end_coalescing_after_failure();
      throw;
    }
    if (as_one) works = {inner_->endCoalescing()};
    return works;
  });
}

// What was begun must not stay open, or whatever comes next would become a part of it.
void GroupBackend::end_coalescing_after_failure() {
  try {
    inner_->endCoalescing();
  } catch (const std::exception&) {
    // The failure before it is the one to tell.
  }
}

GroupBackend::WorkPtr GroupBackend::barrier(const c10d::BarrierOptions& options) {
  return run({"barrier", options.timeout}, {}, -1, [] { return std::string(); },
             [&] { return inner_->barrier(options); });
}

void GroupBackend::setTimeout(std::chrono::milliseconds timeout) {
  state_->set_timeout(timeout);
  inner_->setTimeout(timeout);
}

void GroupBackend::abort() {
  state_->abort("the group was aborted");
}

bool GroupBackend::close(const std::string& reason) {
  if (!state_->close(reason)) return false;
  control_->finish(reason);
  return true;
}

void GroupBackend::shutdown() {
  if (close("the group was shut down")) state_->close_connections();
}

BackendTraits traits_for_cpu(const ProcessGroup& group) {
  const auto backend = group.native()->getBackend(c10::kCPU);
  const auto* own = dynamic_cast<const GroupBackend*>(backend.get());
  return own ? own->traits() : BackendTraits();
}

}  // namespace tandem
