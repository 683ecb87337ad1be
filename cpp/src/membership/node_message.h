// What the agents of an elastic job tell the one that keeps its membership, and are told: one agent a node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "membership/message.h"

namespace tandem::membership {

// Agents of other releases are refused by it.
inline constexpr int kNodeProtocol = 4;

// --- to the one that keeps it

// A process of an agent that was part of the job before, as it was last.
struct Returned {
  enum State { kStarting, kTaking, kWaiting, kDone, kGone };
  std::int64_t member = 0;
  int slot = 0;  // of its node
  int state = kStarting;
  bool elastic = false;
  bool leaving = false;
  int rank = -1;           // in the last epoch that it took part in
  std::int64_t epoch = 0;  // that one
  std::int64_t committed = -1;
  std::int64_t history = 0;  // the newest epoch whose state it may have
};

// The first on a connection.
struct Arrive {
  int protocol = kNodeProtocol;
  std::string run;      // --rdzv-id: jobs do not mix
  std::string host;     // name of the machine, for people
  std::string address;  // where its ranks are reached; "": as the connection shows
  int port = 0;         // one that is free for the store of rank 0, should that be here
  int ranks = 1;
  int wanted = -1;  // --node-rank
  // Of one that returns, after its connection or the one that kept the membership was lost:
  int node = -1;  // its number
  int first_slot = 0;
  std::string job;  // which, of all that had this name
  std::vector<Returned> members;
};

// Of processes this agent has started. Here and below `member` is its own number for it.
struct Started {
  std::int64_t member = 0;
  int slot = 0;
};
struct Lost {
  std::int64_t member = 0;
  std::string reason;
};
struct Disconnected {
  std::int64_t member = 0;
  std::string reason;
};
struct FromWorker {
  std::int64_t member = 0;
  std::string message;  // of membership/message.h, encoded
};

// The job cannot go on, for a worker of this agent failed.
struct Failed {
  std::string text;
  int exit_code = 1;
};

// How its ranks get on, in parts, each of which fits into a message.
struct Reported {
  bool begins = false;  // the first of them: those of before are no longer so
  std::string part;
};

// All its workers have ended, and it ends.
struct Ended {};

// --- from it

// Agents of all releases have to understand it: fields that are missing are as here.
struct Refused {
  std::string why;
  bool for_good = true;  // false: it may be taken later, when another node is gone
  bool is_over = false;  // the job is, and the next one of this name may begin
};

// All that the job begins with are there: start the workers.
struct Begin {
  int node = 0;
  int nodes = 1;
  int first_rank = 0;
  int world_size = 1;
  std::string master_address;
  int master_port = 0;
  std::int64_t epoch = 0;  // that runs already
  std::string job;         // tells it from others of that name, before and after
};

struct ToWorker {
  std::int64_t member = 0;
  std::string message;
};

struct Told {
  int event = 0;  // here and below: of an Event
  std::int64_t member = -1;
  std::string text;
  int exit_code = 1;
  std::int64_t epoch = 0;
  int world_size = 0;  // of that
  std::string progress;
};

// --- both ways

// Every second, as a sign of life.
struct Beat {
  bool suspended = false;  // its workers are, by its user
  // Of the one that keeps the membership:
  int nodes = 0;         // that are part of the job
  bool elastic = false;  // whether the program is known to be
  bool uncertain = false;  // it has not known for long whether it is elected still
};

using NodeMessage = std::variant<Arrive, Started, Lost, Disconnected, FromWorker, Failed, Ended, Refused, Begin, ToWorker,
                                 Told, Beat, Reported>;

// JSON.
std::string encode_node(const NodeMessage& message);
// Throws Error(kDataLoss) for what is no such message.
NodeMessage decode_node(std::string_view bytes);

}  // namespace tandem::membership
