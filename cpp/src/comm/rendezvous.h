// How ranks find a common store and each other on it.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "comm/sockets.h"
#include "tandem/store.h"

namespace tandem {

// A common store and this process's place among those who use it.
struct Meeting {
  Store store;
  int rank = -1;
  int world_size = -1;
  std::string place;          // for messages: "env:// at 127.0.0.1:29500"
  std::string local_address;  // this machine's address towards the store; "" when the store is no TCP store
  bool hosts_store = false;
};

// Opens the store that `init_method` ("env://", "tcp://host:port", "file:///path") names. Numbers of -1 come from the
// environment. `cancelled`: gives up with Error (kAborted) soon after it becomes true.
Meeting open_meeting(const std::string& init_method, int rank, int world_size, std::chrono::milliseconds timeout,
                     const std::atomic<bool>& cancelled);

// What a rank tells the others before they connect.
struct Member {
  int world_size = 0;
  std::string host_name;
  std::string host_identity;
  long process = 0;
  std::string backend;
  std::string door;  // of shm::Door; "" when the backend has none
  std::vector<net::Endpoint> listeners;
};

struct Roster {
  std::vector<Member> members;  // in order of rank
  bool one_host = true;
  Store store;  // for what follows; its keys are of this assembly only
};

// Announces this rank for group `name` and waits for all others. Rank 0 checks what they announce and tells all, so
// that every rank ends alike. Ranks may assemble under a name again and again.
// Errors: kTimeout naming the ranks that are missing; kInvalidArgument for world sizes or backends that differ or a rank
// that joined twice; kAborted.
Roster assemble(const Meeting& meeting, const std::string& name, const Member& self, std::chrono::milliseconds timeout,
                const std::atomic<bool>& cancelled);

}  // namespace tandem
