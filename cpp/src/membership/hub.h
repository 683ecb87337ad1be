// The membership of a job, kept by this agent: for its own workers, and for those of agents that connect to it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <set>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "membership/coordinator.h"
#include "membership/link.h"
#include "membership/membership.h"

namespace tandem::membership {

struct HubOptions {
  CoordinatorOptions coordinator;  // `most` is the ranks of this node; those of others are added
  Arrive own;                      // what this agent would say of itself to another one
  int least_nodes = 1;             // with which the job begins, and of which so many ranks it takes to go on
  int most_nodes = 1;
  std::chrono::milliseconds last_call{30000};  // for more than the least, once those are there
  std::chrono::milliseconds join{600000};      // for the least
  std::chrono::milliseconds silence{10000};    // of another agent, after which its node is lost

  // Where another agent can take over (membership/succession.h):
  std::function<bool(std::int64_t epoch)> confirm;  // whether ranks may be told of the epoch; asked again and again
  std::function<bool()> is_certain;                 // whether nobody else keeps the membership, for a while from now on
  std::function<bool()> may_be_certain;             // whether that is only a matter of time
  std::int64_t over = 0;                            // epochs up to this one are
  std::string job;                                  // that this is; "": a new one
  std::optional<Begin> begun;                       // the job runs already, and this is what this agent was told
  bool is_only_job = false;                         // of that name: where it is over, nobody begins anew
  int returning = 0;                                // nodes that are expected to come back, this one included
  std::chrono::milliseconds return_within{5000};    // before training goes on without the others
};

class Hub final : public Membership {
 public:
  // `accept` gives a connection that waits, and the numeric address at its other end; nothing: none does. `listener` is
  // what is polled for them. For one machine alone there is none.
  using Accept = std::function<std::optional<std::pair<Descriptor, std::string>>()>;
  Hub(const HubOptions& options, Time now, Accept accept = {}, int listener = -1);

  const std::optional<Begin>& begun() const override { return begin_; }
  const std::string& refusal() const override { return refusal_; }

  void started(Member member, int slot) override;
  void lost(Member member, const std::string& reason, Time now) override;
  void disconnected(Member member, const std::string& reason, Time now) override;
  void received(Member member, const Message& message, Time now) override;
  std::vector<std::pair<Member, Message>> take_messages() override;
  std::vector<Event> take_events() override;
  bool is_done(Member member) const override { return coordinator_.is_done(member); }
  bool has_left(Member member) const override { return coordinator_.has_left(member); }
  bool finished() const override { return coordinator_.finished(); }
  bool is_elastic() const override { return coordinator_.is_elastic(); }
  std::int64_t epoch() const override { return coordinator_.epoch(); }
  int world_size() const override { return coordinator_.world_size(); }
  const std::string& progress() const override { return coordinator_.progress(); }

  void add_polled(std::vector<pollfd>* polled) const override;
  std::optional<Time> deadline() const override;
  void serve(Time now, bool suspended) override;
  void fail(const std::string& text, int exit_code, Time now) override;
  bool may_end(Time now) override;
  bool keeps() const override { return true; }
  std::vector<std::pair<std::string, std::string>> reports() const override;
  bool has_reports() const override;
  bool gathers() const override { return true; }

  // A process of this agent that was part of the job before this object was.
  void returned(const Returned& was, Time now);
  // Nodes that are there, this one included.
  int nodes() const { return arrived_; }
  bool has_other_nodes() const;
  // Whether others may still come back, or come for the beginning.
  bool waits_for_nodes() const { return !opened_; }
  // Whether an agent came back to a job that this one knows nothing of: that one is to keep it.
  bool is_of_no_use() const { return is_of_no_use_; }
  // Whether it would end the job for want of nodes or ranks, and waits: others may have elected another one.
  bool is_in_doubt() const { return too_few_in_doubt_ || coordinator_.is_in_doubt(); }
  // Something for people, said on all nodes but this one.
  void say(const std::string& text);

 private:
  struct Node {
    Node(Link connection, std::int64_t its_key, std::string address, Time now)
        : link(std::move(connection)), key(its_key), seen_address(std::move(address)), heard(now), came(now) {}
    Link link;
    std::int64_t key;  // of its members' numbers here; 0 is this agent
    std::string seen_address;
    Time heard;
    std::optional<Arrive> said;
    int number = -1;  // from Begin on
    int started = 0;  // of its ranks
    int first_slot = 0;
    Time came, begun;
    bool counts = false;       // as one of those that are there
    bool suspended = false;
    std::set<Member> members;  // by their numbers here
    std::vector<std::string> reported;  // how they get on
    bool ends = false;         // is refused, or has ended in peace
    std::string wrong;         // what it sent that cannot be
  };

  static NodeMessage decode_node_or_end(Node& node, const std::string& bytes);
  bool on(Node& node, const NodeMessage& message, Time now);
  void arrive(Node& node, const Arrive& arrive, Time now);
  void look_whether_all_are_there(Time now);
  void begin_all(Time now);
  void look_whether_all_have_started(Time now);
  void begin_one(Node& node, const Begin& begin, int first_slot, Time now);
  void take_back(Node& node, Time now);
  void look_whether_permitted(Time now);
  bool has_been_uncertain(Time now);
  bool is_over() const { return finished() || failed_ || coordinator_.too_few() || too_few_nodes_; }
  void lose(Node& node, const std::string& reason, Time now);
  void count(Node* node, int ranks);
  void uncount(Node& node);
  void look_whether_too_few();
  std::string why_not(const Arrive& said, bool* for_good) const;
  void route();
  void tell_nodes(const NodeMessage& message);
  Node* node_of(Member member);
  std::int64_t told_epoch() const;
  std::string place_of(const Node& node) const;

  const HubOptions options_;
  Coordinator coordinator_;
  Accept accept_;
  int listener_;
  std::list<Node> nodes_;
  std::optional<Begin> begin_;
  std::string refusal_;
  int arrived_ = 0;
  int ranks_ = 0;  // of all nodes that are there
  int most_ranks_ = 0;
  int first_slot_ = 0;
  int started_ = 0;      // of this node's ranks
  bool opened_ = false;  // all that the job begins with have started
  std::int64_t next_key_ = 1;
  int next_node_ = 1;
  int next_slot_ = 0;
  Time join_until_;
  std::optional<Time> last_call_until_;
  std::optional<Time> beat_at_;
  std::optional<Time> served_at_;
  bool suspended_ = false;
  bool is_short_ = false;  // of descriptors: no connection can be accepted for a while
  bool too_few_nodes_ = false;
  bool too_few_in_doubt_ = false;
  bool is_of_no_use_ = false;
  bool is_unconfirmed_ = false;  // the newest epoch: nobody is told anything
  Time return_until_, least_return_until_;
  std::optional<Time> uncertain_since_;
  std::optional<Time> asked_since_;  // for what only the one keeper's epoch may do
  std::optional<Failed> failed_;
  Time failed_at_;
  std::vector<std::pair<Member, Message>> messages_;
  std::vector<Event> events_;
};

}  // namespace tandem::membership
