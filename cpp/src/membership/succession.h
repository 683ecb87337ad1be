// The membership of a job on several machines that outlives the agent which keeps it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "membership/election.h"
#include "membership/hub.h"
#include "membership/membership.h"
#include "membership/node.h"

namespace tandem::membership {

// Is a Node of whoever is elected, or a Hub where this agent is. When that one is lost, the epoch is over for this agent's
// workers; with whoever is elected next it goes on where they stand. So nothing has to be kept anywhere but who is elected,
// and which epochs were.
class Succession final : public Membership {
 public:
  // Begins to connect, and writes errno's number where that failed at once.
  using Connect = std::function<Descriptor(const std::string& address, int port, int* failure)>;

  // `options`: of the Hub, should it come to that; `accept` and `listener` as there.
  Succession(HubOptions options, std::unique_ptr<Election> election, Connect connect, Hub::Accept accept, int listener,
             Time now);

  const std::optional<Begin>& begun() const override { return begin_; }
  const std::string& refusal() const override { return refusal_; }
  bool came_too_late() const override { return came_too_late_; }

  void started(Member member, int slot) override;
  void lost(Member member, const std::string& reason, Time now) override;
  void disconnected(Member member, const std::string& reason, Time now) override;
  void received(Member member, const Message& message, Time now) override;
  std::vector<std::pair<Member, Message>> take_messages() override;
  std::vector<Event> take_events() override;
  bool is_done(Member member) const override;
  bool has_left(Member member) const override;
  bool finished() const override { return finished_; }
  bool is_elastic() const override;
  std::int64_t epoch() const override { return epoch_; }
  int world_size() const override { return current() ? current()->world_size() : 0; }
  const std::string& progress() const override { return progress_; }

  void add_polled(std::vector<pollfd>* polled) const override;
  std::optional<Time> deadline() const override;
  void serve(Time now, bool suspended) override;
  void fail(const std::string& text, int exit_code, Time now) override;
  bool may_end(Time now) override;
  // The others go on without this one.
  bool keeps() const override { return false; }
  void report(const std::vector<std::string>& parts) override {
    if (current()) current()->report(parts);
  }
  std::vector<std::pair<std::string, std::string>> reports() const override {
    if (!current()) return {};
    return current()->reports();
  }
  bool has_reports() const override { return current() && current()->has_reports(); }
  bool gathers() const override { return hub_ != nullptr; }

 private:
  struct Own {
    Returned now;          // as it would be said
    bool is_gone = false;  // lost
  };

  Membership* current() const { return hub_ ? static_cast<Membership*>(hub_.get()) : node_.get(); }
  void note(Member member, const Message& message);
  void note_told(const std::vector<std::pair<Member, Message>>& messages);
  void search(Time now);
  void connect(const Election::Keeper& keeper, Time now);
  void look_at_connection(Time now);
  void give_up_connecting(int failure, Time now);
  void keep(Time now);
  void be_node(Descriptor socket, Time now);
  bool looks_for_another_keeper() const;
  void note_progress();
  void look_whether_still_elected(Time now);
  void look_at_keeper(Time now);
  void become_nobody(std::string why, Time now);
  void look_at_trouble(Time now);
  void end(const std::string& why);
  void say(const std::string& text) { events_.push_back({Event::Kind::kSaid, -1, text, 1}); }

  HubOptions options_;
  std::unique_ptr<Election> election_;
  Connect connect_;
  Hub::Accept accept_;
  int listener_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<Node> node_;
  Descriptor connecting_;
  Election::Keeper keeper_;  // that this agent is connected to, or connects to
  std::int64_t met_term_ = -1;  // of the one that was reached last
  Time kept_since_;  // by this agent
  Time connecting_until_;
  Time try_at_;
  Time search_until_;
  std::map<Member, Own> own_;
  std::optional<Begin> begin_;
  std::string refusal_;
  std::string why_;  // nobody was found so far
  std::int64_t epoch_ = 0;  // the newest that ranks were told of
  std::string progress_;
  int nodes_ = 0;
  bool has_met_ = false;  // an agent that kept the membership
  bool came_too_late_ = false;
  bool finished_ = false;
  bool ended_ = false;
  bool has_failed_ = false;
  bool resigned_ = false;
  std::optional<Time> farewell_until_;
  std::optional<Time> confirming_since_;
  std::optional<Time> in_doubt_since_;  // too few are left to go on, should this agent be elected still
  Time now_;
  std::optional<Time> trouble_since_;
  bool has_said_trouble_ = false;
  std::vector<std::pair<Member, Message>> messages_;
  std::vector<Event> events_;
};

}  // namespace tandem::membership
