// Elections by etcd's leases and transactions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "etcd/client.h"
#include "membership/election.h"

namespace tandem::etcd {

struct ElectionOptions {
  std::string job;  // its keys begin with "/tandem/JOB/"
  std::string address;  // where this agent keeps the membership, should it be elected
  int port = 0;
  bool stands = true;
  std::chrono::seconds lease{5};  // after which a keeper that says nothing is none any more
};

// Two keys: "keeper", with its place, goes with the keeper's lease; its create revision is the term. "epoch" is the newest
// that was confirmed and of which job, written by whoever is the keeper at that moment, in one transaction. When the job ends
// it says so for a day, so that nobody who slept through that begins anew.
class Election final : public membership::Election {
 public:
  Election(const ElectionOptions& options, ClientOptions client);

  void look(bool looks, bool serves, bool is_new) override;
  const std::optional<Keeper>& keeper() const override { return keeper_; }
  void has_ended(std::int64_t term) override;
  void resign(bool is_over) override;
  bool has_resigned() const override { return !resigns_; }
  std::int64_t confirmed() const override { return confirmed_; }
  bool is_over() const override { return written_ == kOver; }
  bool confirm(std::int64_t epoch, const std::string& job) override;
  const std::string& job() const override { return job_; }
  bool is_certain() const override;
  bool may_be_certain() const override { return is_elected() && trouble_.empty(); }
  const std::string& trouble() const override { return trouble_; }

  void add_polled(std::vector<pollfd>* polled) const override { client_.add_polled(polled); }
  std::optional<Time> deadline() const override;
  void serve(Time now) override;

 private:
  static constexpr const char* kOver = "over";

  using Answered = std::function<void(const nlohmann::json&)>;

  bool is_elected() const { return keeper_ && keeper_->is_self; }
  bool may_stand() const;
  bool has_work() const;
  void act();
  void look_up();
  void get_lease();
  void stand();
  void stand_again(std::chrono::nanoseconds until);
  void renew();
  void look_whether_elected(std::chrono::nanoseconds asked);
  void write_epoch();
  void remove_ended();
  void leave();
  void say_it_is_over();
  void lose();
  void take_keeper(const nlohmann::json& range);
  // Passes on what was answered, or notes why nothing was.
  void ask(const char* path, const nlohmann::json& body, Answered answered);
  std::string key(const char* name) const;
  nlohmann::json keeper_is(std::int64_t revision) const;
  nlohmann::json epoch_is_as_written() const;
  nlohmann::json range(const char* name) const;
  nlohmann::json place() const;

  const ElectionOptions options_;
  Client client_;
  std::optional<Keeper> keeper_;
  std::int64_t confirmed_ = 0;
  std::string written_;        // under "epoch", as far as this agent knows; "": nothing
  std::string job_;
  std::int64_t wanted_ = 0;    // to be confirmed
  std::int64_t lease_ = 0;     // of this agent; 0: none
  std::int64_t revision_ = 0;  // of this agent's key: the term, or later where it had to be written again
  std::optional<std::int64_t> ended_;  // the term of a keeper that has
  bool looks_ = false;
  bool serves_ = false;
  bool is_new_ = false;
  bool is_after_end_ = false;  // an earlier job's, as the last look showed
  bool has_seen_job_ = false;  // which others have begun
  bool resigns_ = false;
  bool is_over_ = false;
  Time now_;
  Time next_at_;       // of whatever is to be done
  Time renew_at_;
  // By the clock that goes on while the machine is suspended, since boot:
  std::chrono::nanoseconds lasts_until_{0};   // the election, at the least
  std::chrono::nanoseconds certain_from_{0};  // before, who was elected last may believe that it still is
  Time stands_from_;   // after a resignation
  std::optional<Time> nobody_since_;
  std::chrono::milliseconds pause_{0};
  std::string trouble_;
};

}  // namespace tandem::etcd
