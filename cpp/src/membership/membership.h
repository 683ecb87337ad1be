// Who decides on the membership, as an agent (`tandem run` on one machine) sees it: itself, or the agent of another node.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "membership/coordinator.h"
#include "membership/node_message.h"

namespace tandem::membership {

// How often agents give each other a sign of life.
inline constexpr std::chrono::milliseconds kBeatEvery{1000};
inline constexpr int kMostRanksOfAll = 1 << 20;  // of a job

// Members are the agent's own numbers for its processes. For a loop around poll(2); not thread-safe.
class Membership {
 public:
  using Time = Coordinator::Time;

  virtual ~Membership() = default;

  // Once the agents that the job begins with are there.
  virtual const std::optional<Begin>& begun() const = 0;
  // Why it does not begin for this agent; "" while it may.
  virtual const std::string& refusal() const = 0;

  // Whether that is because the job is over.
  virtual bool came_too_late() const { return false; }

  // As Coordinator has them.
  virtual void started(Member member, int slot) = 0;
  virtual void lost(Member member, const std::string& reason, Time now) = 0;
  virtual void disconnected(Member member, const std::string& reason, Time now) = 0;
  virtual void received(Member member, const Message& message, Time now) = 0;
  virtual std::vector<std::pair<Member, Message>> take_messages() = 0;
  virtual std::vector<Event> take_events() = 0;
  virtual bool is_done(Member member) const = 0;
  virtual bool has_left(Member member) const = 0;
  virtual bool finished() const = 0;
  // Whether any process of the job has said anything: else its program may know nothing of membership.
  virtual bool is_elastic() const = 0;
  virtual std::int64_t epoch() const = 0;
  // Ranks that train now; 0: not known, or none do.
  virtual int world_size() const { return 0; }
  virtual const std::string& progress() const = 0;

  // How this agent's ranks get on, for the one that keeps the membership: some parts, which it has from all that are there, and
  // of which nothing here knows what they say. What a slow connection does not take is left out.
  virtual void report(const std::vector<std::string>&) {}
  virtual std::vector<std::pair<std::string, std::string>> reports() const { return {}; }  // the node's host, a part
  virtual bool has_reports() const { return false; }
  // Whether it is this agent that has them.
  virtual bool gathers() const = 0;

  // Of other agents.
  virtual void add_polled(std::vector<pollfd>* polled) const = 0;
  // When serve() has something to do, whatever comes before.
  virtual std::optional<Time> deadline() const = 0;
  // What other agents say, and what time brings; while this agent's workers are suspended that is nothing for them.
  virtual void serve(Time now, bool suspended) = 0;

  // The job is over, for a worker of this agent failed: `text` says it all, for all agents to show.
  virtual void fail(const std::string& text, int exit_code, Time now) = 0;
  // All workers of this agent have ended. Whether it may end, too: others may need it.
  virtual bool may_end(Time now) = 0;
  // Whether it is this agent that keeps the membership.
  virtual bool keeps() const = 0;
};

}  // namespace tandem::membership
