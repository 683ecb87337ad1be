// How ranks find a common store.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "comm/store/waitable_store.h"

namespace tandem {

// A common store and this process's place among those who use it.
struct Rendezvous {
  WaitableStore store;
  int rank = -1;
  int world_size = -1;
  std::string place;          // for messages: "env:// at 127.0.0.1:29500"
  std::string local_address;  // this machine's address towards the store; "" when the store is no TCP store
  bool serves_store = false;
  bool is_for_one_group = false;  // the keys of `store`: nobody makes another group there
  std::string open_store;         // names the TCP store in this process; "": it is no TCP store
  bool met_before = false;        // it was opened now, and its server is that of groups which this process has closed
  bool is_shared = false;         // it was open already, for groups that are closed or not
};

// Opens the store that `init_method` ("env://", "tcp://host:port", "file:///path") names. Numbers of -1 come from the
// environment. `cancelled`: gives up with Error (kAborted) soon after it becomes true.
Rendezvous open_rendezvous(const std::string& init_method, int rank, int world_size, std::chrono::milliseconds timeout,
                           const std::atomic<bool>& cancelled);

// Whether what this process met was the store of a group that ends: all have closed that one, and make the next, but the
// rank that serves it was last. The next one's store is still to come.
bool met_an_ending_store(const Rendezvous& rendezvous);

}  // namespace tandem
