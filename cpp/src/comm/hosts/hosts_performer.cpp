#include "comm/hosts/hosts_performer.h"

#include "comm/hosts/broadcast.h"
#include "comm/shm/collectives.h"

namespace tandem::hosts {

using shm::Kernel;
using shm::Label;
using shm::Operation;
using shm::Pieces;

namespace {

struct Kernels {
  Kernel inside;
  Kernel between;
};

// A host's average would be rounded, and its factors are used up: between hosts there are sums.
Kernels kernels_for(const Label& label, Kernel kernel) {
  switch (label.operation) {
    case Operation::kAverage:
      return {shm::find_kernel(label.element, Operation::kSum), kernel};
    case Operation::kScaledSum:
      return {kernel, shm::find_kernel(label.element, Operation::kSum)};
    default:
      return {kernel, kernel};
  }
}

}  // namespace

// While a collective runs.
class HostsPerformer::Running {
 public:
  explicit Running(HostsPerformer& performer) : performer_(performer) {
    const std::uint64_t number = ++performer_.begun_;
    performer_.running_ = number;
    const auto closed = performer_.failures_->closed_before(number);
    if (!closed) return;
    performer_.running_ = 0;
    throw *closed;
  }
  ~Running() { performer_.running_ = 0; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  HostsPerformer& performer_;
};

HostsPerformer::HostsPerformer(std::unique_ptr<shm::Exchange> inside, std::shared_ptr<Wire> wire, HostMap map,
                               std::shared_ptr<FailureChannel> failures)
    : inside_(std::move(inside)), wire_(std::move(wire)), map_(std::move(map)), failures_(std::move(failures)) {}

std::vector<Pieces> HostsPerformer::of_local_ranks(const std::vector<Pieces>& rows) const {
  std::vector<Pieces> found;
  for (const int rank : map_.local_ranks()) found.push_back(rows[rank]);
  return found;
}

template <typename Visit>
void HostsPerformer::for_each_remote_rank(Visit&& visit) const {
  for (int rank = 0; rank < map_.size(); ++rank) {
    if (map_.host_of(rank) != map_.host()) visit(rank);
  }
}

void HostsPerformer::all_reduce(const Label& label, Deadline deadline, Kernel kernel, const Pieces& data) {
  const Running running(*this);
  const Kernels kernels = kernels_for(label, kernel);
  RowReduction(setting(), label, {deadline}, kernels.inside, kernels.between, data).run();
}

void HostsPerformer::reduce(const Label& label, Deadline deadline, Kernel kernel, const Pieces& data) {
  all_reduce(label, deadline, kernel, data);
}

void HostsPerformer::broadcast(const Label& label, Deadline deadline, const Pieces& data) {
  const Running running(*this);
  Broadcast(setting(), label, {deadline}, data).run();
}

// An all-reduce of nothing.
void HostsPerformer::barrier(const Label& label, Deadline deadline) {
  all_reduce(label, deadline, nullptr, Pieces());
}

// A host's ranks combine what they have for each rank; whoever does it for a rank of another host sends it there, where
// that rank combines what comes from all hosts.
void HostsPerformer::reduce_scatter(const Label& label, Deadline deadline, Kernel kernel,
                                    const std::vector<Pieces>& inputs, std::byte* output) {
  const Running running(*this);
  const Deadlines deadlines{deadline};
  const Kernels kernels = kernels_for(label, kernel);
  const std::size_t bytes = inputs[map_.rank()].bytes();
  const auto hosts = static_cast<std::size_t>(map_.hosts());

  std::vector<Pieces> shares(map_.local_ranks().size());
  std::vector<std::size_t> place(inputs.size());  // in the share
  for (int rank = 0; rank < map_.size(); ++rank) {
    const int worker = map_.host_of(rank) == map_.host() ? rank : map_.counterpart(map_.host(), rank);
    Pieces& share = shares[map_.index_of(worker)];
    place[rank] = share.bytes();
    share.add(inputs[rank]);
  }
  const auto combined = std::make_unique_for_overwrite<std::byte[]>(shares[map_.index()].bytes());
  const auto staging = std::make_unique_for_overwrite<std::byte[]>((hosts - 1) * bytes);
  inside_->begin(label, deadlines.inside);
  shm::reduce_scatter(*inside_, label, deadlines.inside, kernels.inside, shares, combined.get());

  Messages messages = this->messages(label);
  for_each_remote_rank([&](int rank) {
    if (map_.counterpart(map_.host(), rank) == map_.rank()) {
      messages.send(rank, Pieces(combined.get() + place[rank], inputs[rank].bytes()));
    }
  });
  std::vector<const void*> of_hosts(hosts, combined.get() + place[map_.rank()]);
  std::vector<double> weights;
  std::byte* theirs = staging.get();
  for (std::size_t host = 0; host < hosts; ++host) {
    weights.push_back(static_cast<double>(map_.ranks(static_cast<int>(host)).size()));
    if (static_cast<int>(host) == map_.host()) continue;
    messages.receive(map_.counterpart(static_cast<int>(host), map_.rank()), Pieces(theirs, bytes));
    of_hosts[host] = theirs;
    theirs += bytes;
  }
  messages.finish(deadlines.between());
  kernels.between(output, of_hosts.data(), map_.hosts(), bytes / shm::size_of(label.element), weights.data());
}

// A host's ranks gather what the host has, and each what some ranks of other hosts send it; then they gather that.
void HostsPerformer::all_gather(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs,
                                const Pieces& input) {
  const Running running(*this);
  const Deadlines deadlines{deadline};
  Messages messages = this->messages(label);
  for (int host = 0; host < map_.hosts(); ++host) {
    if (host != map_.host()) messages.send(map_.counterpart(host, map_.rank()), input);
  }
  std::vector<Pieces> arrived(map_.local_ranks().size());
  for_each_remote_rank([&](int rank) {
    const int receiver = map_.counterpart(map_.host(), rank);
    arrived[map_.index_of(receiver)].add(outputs[rank]);
    if (receiver == map_.rank()) messages.receive(rank, outputs[rank]);
  });
  shm::all_gather(*inside_, label, deadlines.inside, of_local_ranks(outputs), input);
  messages.finish(deadlines.between());
  if (arrived.size() == 1) return;
  Label second = label;
  second.extent = arrived[map_.index()].bytes();
  shm::all_gather(*inside_, second, deadlines.after(), arrived, arrived[map_.index()]);
}

void HostsPerformer::gather(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs,
                            const Pieces& input) {
  const Running running(*this);
  Messages messages = this->messages(label);
  if (map_.host_of(label.root) == map_.host()) {
    const bool is_root = label.root == map_.rank();
    if (is_root) for_each_remote_rank([&](int rank) { messages.receive(rank, outputs[rank]); });
    shm::gather(*inside_, label, deadline, map_.index_of(label.root),
                is_root ? of_local_ranks(outputs) : std::vector<Pieces>(), input);
  } else {
    messages.send(label.root, input);
  }
  messages.finish(Deadlines{deadline}.between());
}

void HostsPerformer::scatter(const Label& label, Deadline deadline, const std::vector<Pieces>& inputs,
                             const Pieces& output) {
  const Running running(*this);
  Messages messages = this->messages(label);
  if (map_.host_of(label.root) == map_.host()) {
    const bool is_root = label.root == map_.rank();
    if (is_root) for_each_remote_rank([&](int rank) { messages.send(rank, inputs[rank]); });
    shm::scatter(*inside_, label, deadline, map_.index_of(label.root),
                 is_root ? of_local_ranks(inputs) : std::vector<Pieces>(), output);
  } else {
    messages.receive(label.root, output);
  }
  messages.finish(Deadlines{deadline}.between());
}

void HostsPerformer::all_to_all(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs,
                                const std::vector<Pieces>& inputs) {
  const Running running(*this);
  Messages messages = this->messages(label);
  for_each_remote_rank([&](int rank) {
    messages.receive(rank, outputs[rank]);
    messages.send(rank, inputs[rank]);
  });
  shm::all_to_all(*inside_, label, deadline, of_local_ranks(outputs), of_local_ranks(inputs));
  messages.finish(Deadlines{deadline}.between());
}

void HostsPerformer::fail(const Error& reason) {
  // Of a collective that has ended here, others may still be taking what this rank gave them.
  const std::uint64_t running = running_;
  failures_->send_failure(reason.what(), running != 0 ? running : begun_ + 1);
  inside_->fail(reason.what());
}

void HostsPerformer::close() {
  failures_->send_closed(begun_);
  inside_->close();
}

void HostsPerformer::wake() {
  inside_->wake();
  wire_->wake();
}

}  // namespace tandem::hosts
