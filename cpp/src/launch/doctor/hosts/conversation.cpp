#include "launch/doctor/hosts/conversation.h"

#include <algorithm>
#include <cmath>
#include <utility>

using nlohmann::json;

namespace tandem::doctor {
namespace {

constexpr std::chrono::seconds kForGoodbyes{5};

}  // namespace

void Conversation::start(const launch::HostsPlan& plan, const std::vector<bool>& here,
                         const std::vector<std::string>& agent_flags, double seconds, const Take& take) {
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    sessions_.push_back(
        std::make_unique<Session>(plan, plan.hosts[i], here[i], agent_flags, interruption_.signals()));
  }
  collect(std::vector<bool>(sessions_.size(), true), seconds, "it did not answer by ssh", take);
}

void Conversation::ask(const std::function<json(std::size_t)>& order, double seconds, const std::string& what,
                       const Take& take) {
  std::vector<bool> asked(sessions_.size());
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (!sessions_[i]->failure().empty()) continue;
    const json wanted = order(i);
    if (wanted.is_null()) continue;
    asked[i] = true;
    sessions_[i]->order(wanted);
  }
  collect(std::move(asked), seconds, "it has not ended " + what, take);
}

void Conversation::end() {
  const auto until = Clock::now() + kForGoodbyes;
  for (auto& session : sessions_) session->end();
  while (Clock::now() < until && std::ranges::any_of(sessions_, [](const auto& one) { return !one->ended(); })) {
    std::vector<pollfd> polled;
    for (const auto& session : sessions_) session->add_polled(&polled);
    interruption_.wait(std::move(polled), until);
    for (auto& session : sessions_) (void)session->take_answer();
  }
  sessions_.clear();
}

void Conversation::collect(std::vector<bool> waits, double seconds, const std::string& why_not, const Take& take) {
  const auto until = Clock::now() + seconds_of(seconds);
  for (;;) {
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      if (!waits[i]) {
        sessions_[i]->serve();  // else what it writes, or its end, would be told of again and again
        continue;
      }
      if (const auto reply = sessions_[i]->take_answer()) {
        waits[i] = false;
        take_reply(i, *reply, take);
      } else if (!sessions_[i]->failure().empty()) {
        waits[i] = false;
        lost_(i, sessions_[i]->failure());
      }
    }
    if (std::ranges::find(waits, true) == waits.end()) return;
    if (Clock::now() >= until) break;
    std::vector<pollfd> polled;
    for (const auto& session : sessions_) session->add_polled(&polled);
    interruption_.wait(std::move(polled), until);
  }
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (waits[i]) lose(i, why_not + " after " + std::to_string(std::lround(seconds)) + " s");
  }
}

void Conversation::take_reply(std::size_t i, const json& reply, const Take& take) {
  try {
    if (reply.contains("error")) return lose(i, reply.at("error").get<std::string>());
    take(i, reply);
  } catch (const std::exception& error) {  // of another release
    lose(i, std::string("its agent's answer makes no sense here: ") + error.what());
  }
}

void Conversation::lose(std::size_t i, const std::string& why) {
  sessions_[i]->fail(why);
  lost_(i, why);
}

}  // namespace tandem::doctor
