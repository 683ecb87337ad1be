// What the agent of an elastic job (`tandem run`) and its workers tell each other.
//
// A membership epoch is a set of workers with ranks. It begins with a Form to each of them and ends when one is lost,
// finds that its group failed, or when all of them stop at a step that they agreed on (Pause), because others want to
// join or one wants to leave. Then all say Join again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tandem::membership {

// --- a worker to its agent

// The first on a connection. `member` is what the agent gave the process in its environment.
struct Hello {
  std::int64_t member = 0;
};

// Has no group (any more), and waits for one.
struct Join {
  std::int64_t epoch = 0;       // that it was part of; 0: none
  std::int64_t committed = -1;  // steps that its last commit has; -1: it has none
  std::string reason;           // why its group can no longer be used; "": it stopped where all had agreed to
};

// From the one whose Form says that it serves: where others find the store of this epoch.
struct Serve {
  std::int64_t epoch = 0;
  std::string host;
  int port = 0;
};

struct PauseAnswer {
  std::int64_t epoch = 0;
  std::int64_t number = 0;
  std::int64_t step = 0;  // that it has completed
  bool accepted = false;  // it stops at the step of that Pause; false: it is past it
};

// Every second at least, as a sign of life.
struct Progress {
  std::int64_t epoch = 0;
  std::int64_t step = 0;  // completed
  bool waits = false;     // for other ranks
  std::string text;       // what the program says of it, such as its loss
};

// Its training has come to its end.
struct Done {
  std::int64_t epoch = 0;
};

// Wants to leave, as soon as all are between two steps.
struct Leave {
  std::int64_t epoch = 0;
};

// Has left.
struct Bye {
  std::int64_t epoch = 0;
};

// Before it changes what outlives the job, as a checkpoint: whether the epoch is still the only one.
struct Permit {
  std::int64_t epoch = 0;
  std::int64_t number = 0;  // of its requests
};

// --- the agent to a worker

struct Form {
  std::int64_t epoch = 0;
  int rank = 0;
  bool serves = false;  // makes the store, and says Serve
  std::string host;     // of the store, for all others
  int port = 0;
  std::vector<std::int64_t> committed;  // of each rank, see Join
};

// The epoch is over because of a failure: its group is to be aborted.
struct Interrupt {
  std::int64_t epoch = 0;
  std::string reason;
};

// Stop between two steps, once `step` are completed, and wait for Go or for the next Pause.
struct Pause {
  std::int64_t epoch = 0;
  std::int64_t number = 0;
  std::int64_t step = 0;
};

// All have accepted that Pause.
struct Go {
  std::int64_t epoch = 0;
  std::int64_t number = 0;
  bool may_leave = true;  // who wanted to; else joins once more, since nobody else has the state
};

// The others have come to the end of the training: whoever waits is not needed any more.
struct Finished {};

// A process that waits, and wanted to leave, may do so.
struct Released {};

struct Permitted {
  std::int64_t epoch = 0;
  std::int64_t number = 0;
  std::string why_not;  // "": it is
};
inline constexpr const char* kEpochIsOver = "its membership epoch is over";

using Message = std::variant<Hello, Join, Serve, PauseAnswer, Progress, Done, Leave, Bye, Form, Interrupt, Pause, Go,
                             Finished, Released, Permit, Permitted>;

// Reasons are cut to so many bytes.
inline constexpr std::size_t kMostReasonBytes = 4096;

// Longer ones are refused on both sides.
inline constexpr std::size_t kMostMessageBytes = 64 << 10;

// JSON.
std::string encode(const Message& message);
// Throws Error(kDataLoss) for what is no such message.
Message decode(std::string_view bytes);

}  // namespace tandem::membership
