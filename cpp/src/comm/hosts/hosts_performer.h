// Collectives of ranks that are on several hosts.
#pragma once

#include <atomic>
#include <memory>

#include "comm/hosts/failure_channel.h"
#include "comm/hosts/host_map.h"
#include "comm/hosts/messages.h"
#include "comm/hosts/row_reduction.h"
#include "comm/hosts/wire.h"
#include "comm/shm/performer.h"

namespace tandem::hosts {

// Inside a host through shared memory, between hosts over the wire. Each byte crosses to another host once, whoever of
// its ranks it is for; that work is spread over the ranks of a host. What is reduced is combined in order of rank
// inside each host, then in order of host: the same bits on every rank and in every run. float16 and bfloat16 are
// rounded once inside and once between.
class HostsPerformer final : public shm::Performer {
 public:
  HostsPerformer(std::unique_ptr<shm::Exchange> inside, std::shared_ptr<Wire> wire, HostMap map,
                 std::shared_ptr<FailureChannel> failures);

  void all_reduce(const shm::Label& label, Deadline deadline, shm::Kernel kernel, const shm::Pieces& data) override;
  // An all-reduce: what other ranks than the root then have is of no use.
  void reduce(const shm::Label& label, Deadline deadline, shm::Kernel kernel, const shm::Pieces& data) override;
  void reduce_scatter(const shm::Label& label, Deadline deadline, shm::Kernel kernel,
                      const std::vector<shm::Pieces>& inputs, std::byte* output) override;
  void broadcast(const shm::Label& label, Deadline deadline, const shm::Pieces& data) override;
  void all_gather(const shm::Label& label, Deadline deadline, const std::vector<shm::Pieces>& outputs,
                  const shm::Pieces& input) override;
  void gather(const shm::Label& label, Deadline deadline, const std::vector<shm::Pieces>& outputs,
              const shm::Pieces& input) override;
  void scatter(const shm::Label& label, Deadline deadline, const std::vector<shm::Pieces>& inputs,
               const shm::Pieces& output) override;
  void all_to_all(const shm::Label& label, Deadline deadline, const std::vector<shm::Pieces>& outputs,
                  const std::vector<shm::Pieces>& inputs) override;
  void barrier(const shm::Label& label, Deadline deadline) override;

  void set_program_waits(bool program_waits) override { inside_->set_program_waits(program_waits); }

  void fail(const Error& reason) override;
  void close() override;
  void wake() override;

  // For FailureChannel::watch().
  std::uint64_t busy() const { return running_; }

 private:
  class Running;

  Setting setting() { return {*inside_, *wire_, map_, staging_}; }
  Messages messages(const shm::Label& label) { return Messages(*wire_, label, inside_->whereabouts()); }
  std::vector<shm::Pieces> of_local_ranks(const std::vector<shm::Pieces>& rows) const;
  // Calls visit(rank) for those of other hosts.
  template <typename Visit>
  void for_each_remote_rank(Visit&& visit) const;

  const std::unique_ptr<shm::Exchange> inside_;
  const std::shared_ptr<Wire> wire_;
  const HostMap map_;
  const std::shared_ptr<FailureChannel> failures_;
  Staging staging_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> running_{0};  // which collective runs; 0: none
};

}  // namespace tandem::hosts
