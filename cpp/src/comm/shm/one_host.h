// Collectives of ranks that are all on one host.
#pragma once

#include <memory>

#include "comm/shm/collectives.h"
#include "comm/shm/performer.h"

namespace tandem::shm {

class OneHost final : public Performer {
 public:
  explicit OneHost(std::unique_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

  void all_reduce(const Label& label, Deadline deadline, Kernel kernel, const Pieces& data) override {
    shm::all_reduce(*exchange_, label, deadline, kernel, data);
  }
  void reduce(const Label& label, Deadline deadline, Kernel kernel, const Pieces& data) override {
    shm::reduce(*exchange_, label, deadline, kernel, data);
  }
  void reduce_scatter(const Label& label, Deadline deadline, Kernel kernel, const std::vector<Pieces>& inputs,
                      std::byte* output) override {
    shm::reduce_scatter(*exchange_, label, deadline, kernel, inputs, output);
  }
  void broadcast(const Label& label, Deadline deadline, const Pieces& data) override {
    shm::broadcast(*exchange_, label, deadline, label.root, data);
  }
  void all_gather(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs,
                  const Pieces& input) override {
    shm::all_gather(*exchange_, label, deadline, outputs, input);
  }
  void gather(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs, const Pieces& input) override {
    shm::gather(*exchange_, label, deadline, label.root, outputs, input);
  }
  void scatter(const Label& label, Deadline deadline, const std::vector<Pieces>& inputs,
               const Pieces& output) override {
    shm::scatter(*exchange_, label, deadline, label.root, inputs, output);
  }
  void all_to_all(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs,
                  const std::vector<Pieces>& inputs) override {
    shm::all_to_all(*exchange_, label, deadline, outputs, inputs);
  }
  void barrier(const Label& label, Deadline deadline) override { shm::barrier(*exchange_, label, deadline); }

  void set_program_waits(bool program_waits) override { exchange_->set_program_waits(program_waits); }

  void fail(const Error& reason) override { exchange_->fail(reason.what()); }
  void close() override { exchange_->close(); }
  void wake() override { exchange_->wake(); }

 private:
  const std::unique_ptr<Exchange> exchange_;
};

}  // namespace tandem::shm
