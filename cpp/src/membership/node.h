// The membership of a job that another agent keeps.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "membership/link.h"
#include "membership/membership.h"

namespace tandem::membership {

class Node final : public Membership {
 public:
  // `keeper`: where the other agent is, as messages name it. Says `own` at once.
  Node(Link link, const Arrive& own, std::string keeper, std::chrono::milliseconds silence, Time now);

  const std::optional<Begin>& begun() const override { return begin_; }
  const std::string& refusal() const override { return refusal_; }

  void started(Member member, int slot) override;
  void lost(Member member, const std::string& reason, Time now) override;
  void disconnected(Member member, const std::string& reason, Time now) override;
  void received(Member member, const Message& message, Time now) override;
  std::vector<std::pair<Member, Message>> take_messages() override { return std::exchange(messages_, {}); }
  std::vector<Event> take_events() override { return std::exchange(events_, {}); }
  // By what the process said of itself.
  bool is_done(Member member) const override { return done_.count(member) != 0 || has_left(member); }
  bool has_left(Member member) const override { return left_.count(member) != 0; }
  bool finished() const override { return finished_; }
  bool is_elastic() const override { return is_elastic_ || epoch_ > 0; }
  // Whether the refusal may be another one's turn later.
  bool may_try_again() const { return may_try_again_; }
  // Whether it was refused because the job has come to its end.
  bool came_too_late() const override { return came_too_late_; }
  // Whether the one that keeps the membership may not be elected any more, as far as it knows itself.
  bool is_uncertain() const { return is_uncertain_; }
  // Why the one that keeps the membership is lost; "": it is not. That ends the job, unless it survives() that.
  const std::string& lost() const { return lost_; }
  void survives() { survives_ = true; }
  // Nodes that are part of the job, as far as this one knows.
  int nodes() const { return nodes_; }
  std::int64_t epoch() const override { return epoch_; }
  int world_size() const override { return world_size_; }
  const std::string& progress() const override { return progress_; }

  void add_polled(std::vector<pollfd>* polled) const override;
  std::optional<Time> deadline() const override;
  void serve(Time now, bool suspended) override;
  void fail(const std::string& text, int exit_code, Time now) override;
  bool may_end(Time now) override;
  bool keeps() const override { return false; }
  void report(const std::vector<std::string>& parts) override;
  bool gathers() const override { return false; }

 private:
  void on(const NodeMessage& message);
  void lose_keeper(const std::string& how);
  void send(const NodeMessage& message) { link_.send(encode_node(message)); }

  Link link_;
  const std::string keeper_;
  const std::chrono::milliseconds silence_;
  Time heard_;
  Time beat_at_;
  std::optional<Begin> begin_;
  std::string refusal_;
  std::set<Member> done_, left_;
  bool finished_ = false;
  bool is_elastic_ = false;
  bool may_try_again_ = false;
  bool came_too_late_ = false;
  bool is_uncertain_ = false;
  std::optional<Time> served_at_;
  bool is_lost_ = false;  // the other agent
  std::string lost_;
  bool survives_ = false;
  int nodes_ = 0;
  bool has_said_end_ = false;
  std::optional<Time> farewell_until_;
  std::int64_t epoch_ = 0;
  int world_size_ = 0;
  std::string progress_;
  std::vector<std::pair<Member, Message>> messages_;
  std::vector<Event> events_;
};

}  // namespace tandem::membership
