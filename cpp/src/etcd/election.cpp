#include "etcd/election.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

namespace tandem::etcd {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{50};  // between two looks
constexpr milliseconds kLongestPause{500};
constexpr milliseconds kAfterTrouble{300};
constexpr std::chrono::seconds kRemembered{24 * 3600};

std::chrono::nanoseconds since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::int64_t number_in(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The gateway writes 64-bit numbers as strings, and leaves out those that are 0.
std::int64_t number_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  return found->is_string() ? number_in(found->get<std::string>()) : found->get<std::int64_t>();
}

// Of a range over one key; null: it is not there.
const json* found_in(const json& response) {
  const json& range = response.at("response_range");
  const auto kvs = range.find("kvs");
  return kvs == range.end() || kvs->empty() ? nullptr : &kvs->front();
}

std::string value_of(const json& kv) {
  return kv.contains("value") ? from_base64(kv.at("value").get<std::string>()).value_or("") : "";
}

std::string written_in(const json& response) {
  const json* kv = found_in(response);
  return kv ? value_of(*kv) : "";
}

}  // namespace

Election::Election(const ElectionOptions& options, ClientOptions client) : options_(options), client_(std::move(client)) {}

void Election::look(bool looks, bool serves, bool is_new) {
  serves_ = serves;
  is_new_ = is_new;
  if (looks == looks_) return;
  looks_ = looks;
  if (is_elected()) return;
  nobody_since_.reset();
  if (!looks_) return trouble_.clear();  // nobody waits for an answer
  keeper_.reset();  // of whom nothing was asked meanwhile
  next_at_ = {};
  pause_ = milliseconds(0);
}

void Election::has_ended(std::int64_t term) {
  ended_ = term;
  next_at_ = {};
}

void Election::resign(bool is_over) {
  if (!is_elected() && lease_ == 0) return;
  resigns_ = true;
  is_over_ = is_over && is_elected();
  next_at_ = {};
}

bool Election::confirm(std::int64_t epoch, const std::string& job) {
  if (epoch <= confirmed_) return true;
  job_ = job;
  if (epoch > wanted_) next_at_ = {};
  wanted_ = std::max(wanted_, epoch);
  return false;
}

bool Election::is_certain() const {
  const auto now = since_boot();
  const auto margin = std::chrono::duration_cast<milliseconds>(options_.lease) / 3;
  return is_elected() && now >= certain_from_ && now + margin < lasts_until_;
}

bool Election::may_stand() const {
  if (!options_.stands || now_ < stands_from_) return false;
  return serves_ || !has_seen_job_ || (is_new_ && is_after_end_) || (nobody_since_ && now_ - *nobody_since_ >= 2 * options_.lease);
}

bool Election::has_work() const {
  return resigns_ || ended_ || (is_elected() ? wanted_ > confirmed_ || now_ >= renew_at_ : looks_);
}

std::optional<Election::Time> Election::deadline() const {
  std::optional<Time> next = client_.deadline();
  const auto consider = [&](Time time) {
    if (!next || time < *next) next = time;
  };
  if (client_.is_busy()) return next;
  if (has_work()) {
    consider(next_at_);
  } else if (is_elected()) {
    consider(renew_at_);
  }
  return next;
}

void Election::serve(Time now) {
  now_ = now;
  client_.serve();
  if (!client_.is_busy() && now >= next_at_ && has_work()) act();
}

void Election::act() {
  if (resigns_) return leave();
  if (ended_) return remove_ended();
  if (is_elected()) return now_ >= renew_at_ ? renew() : write_epoch();
  if (lease_ != 0 && !keeper_ && may_stand() && nobody_since_) return stand();
  look_up();
}

void Election::ask(const char* path, const json& body, Answered answered) {
  client_.call(path, body, [this, answered = std::move(answered)](Reply reply) {
    std::string why = std::move(reply.why);
    if (reply.refused && !is_elected()) lease_ = 0;  // it may have run out
    if (reply.content) {
      try {
        answered(*reply.content);
        trouble_.clear();
        return;
      } catch (const json::exception& error) {
        why = std::string("etcd's answer is not understood: ") + error.what();
      }
    }
    if (looks_ || resigns_ || is_elected()) trouble_ = std::move(why);
    next_at_ = now_ + kAfterTrouble;
  });
}

// ------------------------------------------------------------------------------------------------------- what is asked

std::string Election::key(const char* name) const { return to_base64("/tandem/" + options_.job + "/" + name); }

json Election::keeper_is(std::int64_t revision) const {
  return {{"target", "CREATE"}, {"result", "EQUAL"}, {"key", key("keeper")}, {"create_revision", std::to_string(revision)}};
}

json Election::epoch_is_as_written() const {
  if (written_.empty()) return {{"target", "CREATE"}, {"result", "EQUAL"}, {"key", key("epoch")}, {"create_revision", "0"}};
  return {{"target", "VALUE"}, {"result", "EQUAL"}, {"key", key("epoch")}, {"value", to_base64(written_)}};
}

json Election::range(const char* name) const { return {{"request_range", {{"key", key(name)}}}}; }

json Election::place() const {
  const json where = {{"address", options_.address}, {"port", options_.port}};
  return {{"request_put", {{"key", key("keeper")}, {"value", to_base64(where.dump())}, {"lease", std::to_string(lease_)}}}};
}

void Election::look_up() {
  ask("/v3/kv/txn", {{"success", {range("keeper"), range("epoch")}}}, [this](const json& answer) {
    const std::string written = written_in(answer.at("responses").at(1));
    has_seen_job_ |= number_in(written) > 0;
    is_after_end_ = written == kOver;
    take_keeper(answer.at("responses").at(0));
    if (keeper_ || !may_stand()) return;
    if (lease_ == 0) get_lease();
  });
}

void Election::take_keeper(const json& response) {
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  next_at_ = now_ + pause_;
  keeper_.reset();
  const json* kv = found_in(response);
  if (!kv) {
    if (!nobody_since_) nobody_since_ = now_;
    if (may_stand()) next_at_ = now_;
    return;
  }
  nobody_since_.reset();
  has_seen_job_ = true;
  const json where = json::parse(value_of(*kv));
  Keeper keeper;
  keeper.address = where.at("address").get<std::string>();
  keeper.port = where.at("port").get<int>();
  keeper.term = number_of(*kv, "create_revision");
  // One of this agent's own that it knows nothing of any more is nobody's, and ends with its lease.
  if (keeper.address == options_.address && keeper.port == options_.port) {
    ended_ = keeper.term;
    return;
  }
  if (keeper.port < 1 || keeper.port > 65535) return;
  keeper_ = std::move(keeper);
}

void Election::get_lease() {
  ask("/v3/lease/grant", {{"TTL", std::to_string(options_.lease.count())}}, [this](const json& answer) {
    lease_ = number_of(answer, "ID");
    next_at_ = now_;
  });
}

void Election::stand() {
  // What an earlier job left is none of a new one's.
  const bool clears = is_new_ && is_after_end_;
  json compare = json::array({keeper_is(0)});
  if (clears) compare.push_back({{"target", "VALUE"}, {"result", "EQUAL"}, {"key", key("epoch")}, {"value", to_base64(kOver)}});
  const json epoch = clears ? json{{"request_delete_range", {{"key", key("epoch")}}}} : range("epoch");
  ask("/v3/kv/txn", {{"compare", compare}, {"success", {place(), epoch}}, {"failure", {range("keeper")}}},
      [this, clears](const json& answer) {
        is_after_end_ = false;
        if (!answer.value("succeeded", false)) return take_keeper(answer.at("responses").at(0));
        revision_ = number_of(answer.at("header"), "revision");
        written_ = clears ? "" : written_in(answer.at("responses").at(1));
        confirmed_ = number_in(written_);
        job_ = confirmed_ > 0 && written_.find(' ') != std::string::npos ? written_.substr(written_.find(' ') + 1) : "";
        wanted_ = 0;
        keeper_ = Keeper{options_.address, options_.port, revision_, true};
        nobody_since_.reset();
        lasts_until_ = {};
        certain_from_ = since_boot();
        if (confirmed_ > 0) certain_from_ += options_.lease;
        renew_at_ = now_;
      });
}

void Election::renew() {
  ask("/v3/lease/keepalive", {{"ID", std::to_string(lease_)}}, [this, asked = since_boot()](const json& answer) {
    renew_at_ = now_ + std::chrono::duration_cast<milliseconds>(options_.lease) / 3;
    if (number_of(answer.value("result", json::object()), "TTL") > 0) return look_whether_elected(asked);
    lasts_until_ = {};
    // It ran out while etcd, or this process, stood still. Nobody else may have noticed.
    ask("/v3/lease/grant", {{"TTL", std::to_string(options_.lease.count())}}, [this, asked = since_boot()](const json& granted) {
      lease_ = number_of(granted, "ID");
      stand_again(asked + options_.lease);
    });
  });
}

// The lease lives; the key that goes with it somebody may have deleted.
void Election::look_whether_elected(std::chrono::nanoseconds asked) {
  ask("/v3/kv/txn", {{"compare", {keeper_is(revision_)}}}, [this, asked](const json& answer) {
    if (!answer.value("succeeded", false)) return lose();
    lasts_until_ = asked + options_.lease;
  });
}

void Election::stand_again(std::chrono::nanoseconds until) {
  const json body = {{"compare", {keeper_is(0), epoch_is_as_written()}}, {"success", {place()}}, {"failure", {range("keeper")}}};
  ask("/v3/kv/txn", body, [this, until](const json& answer) {
    if (answer.value("succeeded", false)) {
      revision_ = number_of(answer.at("header"), "revision");
    } else {  // where an answer was lost, it is there already
      const json* keeper = found_in(answer.at("responses").at(0));
      if (!keeper || number_of(*keeper, "lease") != lease_) return lose();
      revision_ = number_of(*keeper, "create_revision");
    }
    lasts_until_ = until;
  });
}

void Election::write_epoch() {
  const std::int64_t epoch = wanted_;
  const std::string text = std::to_string(epoch) + " " + job_;
  const json put = {{"request_put", {{"key", key("epoch")}, {"value", to_base64(text)}}}};
  ask("/v3/kv/txn", {{"compare", {keeper_is(revision_), epoch_is_as_written()}}, {"success", {put}}, {"failure", {range("epoch"), range("keeper")}}},
      [this, epoch, text](const json& answer) {
        if (!answer.value("succeeded", false)) {
          const json& responses = answer.at("responses");
          const json* keeper = found_in(responses.at(1));
          if (!keeper || number_of(*keeper, "create_revision") != revision_) return lose();
          written_ = written_in(responses.at(0));  // by this agent, whose answer was lost
          confirmed_ = std::max(confirmed_, number_in(written_));
          return;
        }
        confirmed_ = epoch;
        written_ = text;
      });
}

void Election::remove_ended() {
  const json remove = {{"request_delete_range", {{"key", key("keeper")}}}};
  ask("/v3/kv/txn", {{"compare", {keeper_is(*ended_)}}, {"success", {remove}}}, [this](const json&) {
    if (keeper_ && keeper_->term == *ended_) keeper_.reset();
    ended_.reset();
    next_at_ = now_;
  });
}

void Election::leave() {
  if (is_elected() && is_over_) {
    say_it_is_over();
  } else if (is_elected()) {
    const json remove = {{"request_delete_range", {{"key", key("keeper")}}}};
    ask("/v3/kv/txn", {{"compare", {keeper_is(revision_)}}, {"success", {remove}}}, [this](const json&) { lose(); });
  } else if (lease_ != 0) {
    ask("/v3/lease/revoke", {{"ID", std::to_string(lease_)}}, [this](const json&) {
      lease_ = 0;
      resigns_ = false;
    });
  } else {
    resigns_ = false;
  }
  stands_from_ = now_ + 2 * options_.lease;
}

void Election::say_it_is_over() {
  ask("/v3/lease/grant", {{"TTL", std::to_string(kRemembered.count())}}, [this](const json& granted) {
    const json lease = std::to_string(number_of(granted, "ID"));
    const json success = {{{"request_delete_range", {{"key", key("keeper")}}}},
                          {{"request_put", {{"key", key("epoch")}, {"value", to_base64(kOver)}, {"lease", lease}}}}};
    ask("/v3/kv/txn", {{"compare", {keeper_is(revision_)}}, {"success", success}}, [this](const json&) { lose(); });
  });
}

void Election::lose() {
  keeper_.reset();
  revision_ = 0;
  lasts_until_ = {};
  next_at_ = now_;
  nobody_since_.reset();
}

}  // namespace tandem::etcd
