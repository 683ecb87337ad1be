// How the workers of a session come together, and part.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/bootstrap/bootstrap.h"
#include "comm/bootstrap/group_bootstrap.h"
#include "comm/bootstrap/rendezvous.h"
#include "rpc/devices.h"
#include "tandem/process_group.h"
#include "tandem/rpc.h"

namespace tandem::rpc {

class Meeting {
 public:
  // Joins, and waits for all. `address`: where this worker will listen. Errors: kInvalidArgument (names, sizes, addresses
  // that do not go together), kTimeout naming who is missing, kAborted; on all workers alike.
  Meeting(const std::string& name, const std::string& address, const Options& options, const Rendezvous& rendezvous);
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  int rank() const { return rendezvous_.rank; }
  int size() const { return rendezvous_.world_size; }
  const std::vector<Worker>& workers() const { return workers_; }
  const DeviceMaps& devices() const { return devices_; }

  // While the session is being made: the bytes of all.
  std::vector<std::string> all_gather(const std::string& bytes) { return joining_->all_gather(bytes); }
  // This worker cannot go on: the others get `reason`. Throws nothing.
  void refuse(const Error& reason) noexcept { joining_->refuse(reason); }
  // All is exchanged.
  void finish() noexcept { joining_->finish(); }

  // While workers leave. `check`, which may be empty, is called again and again meanwhile, on another thread, and may
  // throw: that is the error then. Errors: kTimeout naming the workers that have not come.
  std::vector<std::string> all_gather_leaving(const std::string& bytes, std::chrono::milliseconds timeout,
                                              std::function<void()> check = {});
  // Of the last all_gather_leaving(): who has not come, as far as that is known now.
  std::vector<Worker> not_leaving() noexcept;
  void refuse_leaving(const Error& reason) noexcept { leaving_->refuse(reason); }

 private:
  void introduce(const std::string& name, const std::string& address, const std::string& devices);

  ProcessGroupOptions group_;
  const Rendezvous rendezvous_;
  std::unique_ptr<GroupBootstrap> joining_;
  std::unique_ptr<Bootstrap> leaving_;
  std::vector<Worker> workers_;
  DeviceMaps devices_;
};

}  // namespace tandem::rpc
