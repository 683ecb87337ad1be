#include "comm/gloo/gloo_backend.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "comm/gloo/slots.h"
#include "comm/sockets.h"
#include "comm/tensors.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Buffer = std::unique_ptr<::gloo::transport::UnboundBuffer>;

// Of a message, before its data.
struct Head {
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  // where data follows: among those of its slot
};

// Gloo writes messages to sockets on the thread that sends or receives. Where the peer is gone it raises SIGPIPE there,
// and may then wait for a peer that will never answer.
template <typename Issue>
c10::intrusive_ptr<c10d::Work> without_sigpipe(Issue&& issue) {
  const net::SigpipeBlocked blocked;
  c10::intrusive_ptr<c10d::Work> work = issue();
  if (blocked.was_raised()) throw Error(ErrorCode::kPeerLost, "Connection closed by peer (Broken pipe)");
  return work;
}

// What is left of a wait's limit, in Gloo's words.
class Limit {
 public:
  explicit Limit(milliseconds timeout) : timeout_(timeout), end_(Clock::now() + timeout) {}
  milliseconds left() const {
    if (timeout_ == kNoTimeout) return ::gloo::transport::kUnsetTimeout;  // Gloo's own
    return std::max(std::chrono::ceil<milliseconds>(end_ - Clock::now()), milliseconds(1));
  }
  bool is_over() const { return timeout_ != kNoTimeout && Clock::now() >= end_; }

 private:
  const milliseconds timeout_;
  const Clock::time_point end_;
};

}  // namespace

class GlooBackend::Sent final : public c10d::Work {
 public:
  Sent(::gloo::Context& context, DataOrder& order, const at::Tensor& tensor, int to, int tag)
      : c10d::Work(context.rank, c10d::OpType::SEND), tensor_(tensor) {
    Head head;
    head.bytes = tensor.nbytes();
    const bool is_inline = head.bytes <= kInlineBytes;
    if (!is_inline) head.number = order.next_sent(to, data_slot(tag, head.bytes));
    const std::size_t size = sizeof head + (is_inline ? head.bytes : 0);
    copy_ = std::make_unique_for_overwrite<std::byte[]>(size);
    std::memcpy(copy_.get(), &head, sizeof head);
    if (is_inline && head.bytes > 0) std::memcpy(copy_.get() + sizeof head, tensor.const_data_ptr(), head.bytes);
    head_ = context.createUnboundBuffer(copy_.get(), size);
    head_->send(to, head_slot(tag));
    if (is_inline) return;
    data_ = context.createUnboundBuffer(const_cast<void*>(tensor.const_data_ptr()), head.bytes);
    data_->send(to, data_slot(tag, head.bytes));
  }

  bool wait(milliseconds timeout) override {
    const Limit limit(timeout);
    bool done = false;
    std::exception_ptr failure;
    try {
      done = head_->waitSend(nullptr, limit.left()) && (!data_ || data_->waitSend(nullptr, limit.left()));
    } catch (...) {
      failure = std::current_exception();
    }
    finishAndThrow(failure);
    return done;
  }

  void abort() override {
    head_->abortWaitSend();
    if (data_) data_->abortWaitSend();
  }

 private:
  const at::Tensor tensor_;
  std::unique_ptr<std::byte[]> copy_;
  Buffer head_, data_;
};

class GlooBackend::Received final : public c10d::Work {
 public:
  static constexpr int kAnyRank = -1;

  Received(const GlooBackend& backend, const at::Tensor& tensor, int from, int tag)
      // As one from any rank, what asks late needs somebody who waits.
      : c10d::Work(backend.getRank(), from == kAnyRank || asks_late(backend, tensor, from, tag)
                                          ? c10d::OpType::RECVANYSOURCE
                                          : c10d::OpType::RECV),
        tensor_(tensor),
        tag_(tag),
        context_(backend.context_for(tag)),
        order_(backend.order_),
        is_late_(asks_late(backend, tensor, from, tag)),
        fail_(backend.fail_),
        whereabouts_(backend.whereabouts_),
        peers_(backend.peers_) {
    const std::vector<int> others = from == kAnyRank ? backend.others() : std::vector<int>();
    const auto post = [&](::gloo::transport::UnboundBuffer& buffer, std::uint64_t slot) {
      from == kAnyRank ? buffer.recv(others, slot) : buffer.recv(from, slot);
    };
    const std::size_t size = sizeof(Head) + kInlineBytes;
    copy_ = std::make_unique_for_overwrite<std::byte[]>(size);
    head_ = context_->createUnboundBuffer(copy_.get(), size);
    if (is_late_) order_->begin_late(tag);
    post(*head_, head_slot(tag));
    if (tensor.nbytes() > kInlineBytes && !is_late_) {
      data_ = context_->createUnboundBuffer(tensor.mutable_data_ptr(), tensor.nbytes());
      order_->ask(from, slot(), [&] { data_->recv(from, slot()); });
    }
    if (from == kAnyRank) place_ = peers_->listen([this](const GlooPeers::Status& peers) { on_peers(peers); });
  }
  ~Received() override {
    if (place_) peers_->remove(*place_);
    end_late();
  }

  bool wait(milliseconds timeout) override {
    bool done = false;
    std::exception_ptr failure;
    try {
      done = receive(Limit(timeout));
    } catch (...) {
      failure = std::current_exception();
    }
    finishAndThrow(failure);
    return done;
  }

  void abort() override {
    aborted_ = true;
    wake();
  }

  int sourceRank() const override { return source_; }
  std::vector<at::Tensor> result() override { return {tensor_}; }

 private:
  bool receive(const Limit& limit) {
    if (!await(*head_, limit)) return false;
    Head head;
    std::memcpy(&head, copy_.get(), sizeof head);
    if (head.bytes != tensor_.nbytes()) refuse_size(head.bytes);
    if (tensor_.nbytes() > kInlineBytes) {
      if (is_late_ && !ask_late(head.number, limit)) return false;
      return await(*data_, limit);
    }
    if (head.bytes > 0) std::memcpy(tensor_.mutable_data_ptr(), copy_.get() + sizeof head, head.bytes);
    return true;
  }

  // Whether it asks for its data only once it has the head.
  static bool asks_late(const GlooBackend& backend, const at::Tensor& tensor, int from, int tag) {
    return tensor.nbytes() > kInlineBytes && (from == kAnyRank || backend.order_->has_late(tag));
  }

  std::uint64_t slot() const { return data_slot(tag_, tensor_.nbytes()); }

  // False after an abort.
  bool ask_late(std::uint64_t number, const Limit& limit) {
    const auto check = [&] {
      if (aborted_) throw Stop();
      if (limit.is_over()) {
        throw Error(ErrorCode::kTimeout, "an earlier message of rank " + std::to_string(source_) + " with tag " +
                                             std::to_string(tag_) + " is not received");
      }
    };
    try {
      const net::SigpipeBlocked blocked;
      order_->ask(source_, slot(), number, check, [&] {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (aborted_) throw Stop();
        data_ = context_->createUnboundBuffer(tensor_.mutable_data_ptr(), tensor_.nbytes());
        data_->recv(source_, slot());
      });
      if (blocked.was_raised()) throw Error(ErrorCode::kPeerLost, "Connection closed by peer (Broken pipe)");
    } catch (const Stop&) {
      return false;
    }
    end_late();
    return true;
  }

  void end_late() {
    if (is_late_ && !late_ended_.exchange(true)) order_->end_late(tag_);
  }

  bool await(::gloo::transport::UnboundBuffer& buffer, const Limit& limit) {
    if (buffer.waitRecv(&source_, limit.left())) return true;
    if (aborted_) return false;
    // Nobody is left who could send it, but it may have come before that. This look ends what connections are left
    // where it finds nothing, as the group is about to.
    try {
      if (buffer.waitRecv(&source_, milliseconds(1))) return true;
    } catch (const std::exception&) {
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    throw *nobody_left_;
  }

  [[noreturn]] void refuse_size(std::uint64_t sent) const {
    const Error misfit(ErrorCode::kInvalidArgument, "recv of " + std::to_string(tensor_.nbytes()) + " bytes with tag " +
                                                        std::to_string(tag_) + " on " + whereabouts_ + ": rank " +
                                                        std::to_string(source_) + " sends " + std::to_string(sent) +
                                                        " bytes; give a tensor of the size and dtype that is sent");
    if (fail_) (*fail_)(misfit);
    throw misfit;
  }

  // On a thread of GlooPeers.
  void on_peers(const GlooPeers::Status& peers) {
    if (!peers.lost && !peers.all_closed) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (nobody_left_) return;
      nobody_left_ = peers.lost
                         ? *peers.lost
                         : Error(ErrorCode::kPeerLost, "all other ranks closed the group, and send nothing more");
    }
    wake();
  }

  void wake() {
    head_->abortWaitRecv();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (data_) data_->abortWaitRecv();
  }

  struct Stop {};

  const at::Tensor tensor_;
  const int tag_;
  const std::shared_ptr<::gloo::Context> context_;
  const std::shared_ptr<DataOrder> order_;
  const bool is_late_;
  std::atomic<bool> late_ended_{false};
  const std::shared_ptr<const std::function<void(const Error&)>> fail_;
  const std::string whereabouts_;
  const std::shared_ptr<GlooPeers> peers_;
  std::unique_ptr<std::byte[]> copy_;
  Buffer head_, data_;
  int source_ = kAnyRank;
  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::optional<Error> nobody_left_;
  std::optional<GlooPeers::Place> place_;
};

GlooBackend::GlooBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                         const c10::intrusive_ptr<Options>& options)
    : ProcessGroupGloo(store, rank, size, options),
      peers_(std::make_shared<GlooPeers>(contexts_.front(), rank, size)) {}

GlooBackend::~GlooBackend() {
  peers_->stop();
}

void GlooBackend::join(const std::shared_ptr<GroupState>& state) {
  const std::weak_ptr<GroupState> group = state;
  whereabouts_ = state->whereabouts();
  fail_ = std::make_shared<const std::function<void(const Error&)>>([group](const Error& failure) {
    if (const auto held = group.lock()) held->fail(failure);
  });
  peers_->set_rank_of([group](const std::string& text) {
    const auto held = group.lock();
    return held ? held->rank_in(text) : -1;
  });
  const std::weak_ptr<GlooPeers> peers = peers_;
  state->set_lost_peer([peers]() -> std::optional<Error> {
    const auto held = peers.lock();
    if (!held) return std::nullopt;
    const GlooPeers::Status status = held->status();
    return status.closed ? status.closed : status.lost;
  });
  state->set_send_closed([peers] {
    if (const auto held = peers.lock()) held->send_closed();
  });
  peers_->watch([group](const Error& lost) {
    if (const auto held = group.lock()) held->end_untold(lost);
  });
}

BackendTraits GlooBackend::traits() const {
  BackendTraits traits;
  traits.averages = traits.reduces_scattered = false;
  traits.waits_for_messages = traits.in_turns = traits.ends_late = true;
  return traits;
}

const at::Tensor& GlooBackend::checked(const Tensors& tensors, const char* call, int tag) const {
  if (tensors.size() != 1) refuse(call, "got " + std::to_string(tensors.size()) + " tensors; give one");
  const at::Tensor& tensor = tensors.front();
  if (!tensor.defined()) refuse(call, "the tensor is undefined");
  if (!tensor.is_cpu()) refuse(call, "backend gloo sends tensors on the CPU, this is " + describe(tensor));
  if (tensor.layout() != at::kStrided || !tensor.is_contiguous()) {
    refuse(call, describe(tensor) + " is not contiguous; pass tensor.contiguous()");
  }
  if (tag < 0) refuse(call, "the tag is " + std::to_string(tag) + "; it must be 0 or more");
  return tensor;
}

void GlooBackend::check_peer(int peer, const char* call) const {
  if (peer >= 0 && peer < getSize() && peer != getRank()) return;
  refuse(call, "rank " + std::to_string(peer) + " is no other rank of a group of " + std::to_string(getSize()));
}

// As LibTorch has it: which of the group's interfaces a message takes.
std::shared_ptr<::gloo::Context> GlooBackend::context_for(int tag) const {
  return contexts_[static_cast<std::size_t>(tag) % contexts_.size()];
}

std::vector<int> GlooBackend::others() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < getSize(); ++rank) {
    if (rank != getRank()) ranks.push_back(rank);
  }
  return ranks;
}

c10::intrusive_ptr<c10d::Work> GlooBackend::send(Tensors& tensors, int to, int tag) {
  const at::Tensor& tensor = checked(tensors, "send", tag);
  check_peer(to, "send");
  return without_sigpipe([&] { return c10::make_intrusive<Sent>(*context_for(tag), *order_, tensor, to, tag); });
}

c10::intrusive_ptr<c10d::Work> GlooBackend::recv(Tensors& tensors, int from, int tag) {
  const at::Tensor& tensor = checked(tensors, "recv", tag);
  check_peer(from, "recv");
  return without_sigpipe([&] { return c10::make_intrusive<Received>(*this, tensor, from, tag); });
}

c10::intrusive_ptr<c10d::Work> GlooBackend::recvAnysource(Tensors& tensors, int tag) {
  const at::Tensor& tensor = checked(tensors, "recv", tag);
  return without_sigpipe([&] { return c10::make_intrusive<Received>(*this, tensor, Received::kAnyRank, tag); });
}

c10::intrusive_ptr<c10d::Work> GlooBackend::send_unchecked(Tensors& tensors, int to, int tag) {
  return without_sigpipe([&] { return ProcessGroupGloo::send(tensors, to, tag); });
}

c10::intrusive_ptr<c10d::Work> GlooBackend::recv_unchecked(Tensors& tensors, int from, int tag) {
  return without_sigpipe([&] { return ProcessGroupGloo::recv(tensors, from, tag); });
}

}  // namespace tandem
