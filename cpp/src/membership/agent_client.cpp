#include "membership/agent_client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/own_thread.h"
#include "membership/agent_server.h"
#include "membership/socket.h"
#include "membership/stack_answer.h"
#include "tandem/error.h"

namespace tandem::membership {
namespace {

constexpr int kReportEvery = 200;     // ms, where there is something new
constexpr std::chrono::milliseconds kSignOfLife{1000};
constexpr int kSendPatience = 30000;  // ms that the agent may not read

Pipe new_pipe() {
  std::optional<Pipe> pipe = make_pipe();
  if (!pipe) throw Error(ErrorCode::kIo, std::string("cannot make a pipe: ") + std::strerror(errno));
  return std::move(*pipe);
}

}  // namespace

AgentClient::AgentClient(const std::string& path, std::int64_t member)
    : path_(path), socket_(connect_to(path)), end_(new_pipe()) {
  send(Hello{member});
  thread_ = start_own_thread("tdm-agent", [this] { listen(); });
}

AgentClient::~AgentClient() {
  end_.write.reset();
  thread_.join();
}

std::unique_ptr<AgentClient> AgentClient::from_environment() {
  const char* path = std::getenv(kAgentVariable);
  const char* member = std::getenv(kMemberVariable);
  if (!path || !*path || !member) return nullptr;
  std::int64_t number = -1;
  const auto [end, failure] = std::from_chars(member, member + std::strlen(member), number);
  if (failure != std::errc() || *end || number < 0) {
    throw Error(ErrorCode::kInvalidArgument, std::string(kMemberVariable) + " is '" + member +
                                                 "', which is no number; `tandem run` sets it for each worker");
  }
  answer_stack_signal();
  return std::make_unique<AgentClient>(path, number);
}

// --------------------------------------------------------------------------------------------------------- calls

std::optional<Form> AgentClient::join(const Join& join) {
  std::unique_lock<std::mutex> lock(mutex_);
  form_.reset();
  interrupted_.reset();
  stop_.reset();
  lock.unlock();
  Join told = join;
  told.reason.resize(std::min(told.reason.size(), kMostReasonBytes));
  send(told);
  lock.lock();
  changed_.wait(lock, [this] { return form_ || finished_ || released_ || gone_ || aborted_; });
  check_usable();
  if (!form_) return std::nullopt;
  return std::exchange(form_, std::nullopt);
}

void AgentClient::serve(std::int64_t epoch, const std::string& host, int port) { send(Serve{epoch, host, port}); }

void AgentClient::on_interrupt(std::function<void()> act) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !acting_; });
  act_ = std::move(act);
  if (!act_ || (!interrupted_ && !gone_ && !aborted_)) return;
  const auto now = std::exchange(act_, nullptr);
  lock.unlock();
  now();
}

std::optional<std::string> AgentClient::interrupted() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return interrupted_;
}

std::optional<std::string> AgentClient::wait_for_interrupt(std::chrono::milliseconds timeout) const {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return interrupted_ || gone_ || aborted_; });
  return interrupted_;
}

AgentClient::Next AgentClient::completed(std::int64_t step) {
  std::unique_lock<std::mutex> lock(mutex_);
  step_ = step;
  const auto waits = [this] { return stop_ && step_ >= stop_->step && !stop_->agreed && !interrupted_ && !gone_ && !aborted_; };
  waits_at_stop_ = true;
  changed_.wait(lock, [&] { return !waits(); });
  waits_at_stop_ = false;
  check_usable();
  if (interrupted_) return Next::kInterrupted;
  if (!stop_ || step_ < stop_->step) return Next::kGoOn;
  return leaves_ && stop_->may_leave ? Next::kLeave : Next::kStop;
}

void AgentClient::begin_at(std::int64_t step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  step_ = step;
}

void AgentClient::describe(std::string text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  text_ = std::move(text);
  text_.resize(std::min<std::size_t>(text_.size(), 200));
  reported_ = -1;
}

void AgentClient::done() {
  report_progress(/*is_due=*/true);
  std::unique_lock<std::mutex> lock(mutex_);
  const Done done{epoch_};
  lock.unlock();
  send(done);
}

void AgentClient::leave() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (std::exchange(leaves_, true)) return;
  const Leave leave{epoch_};
  lock.unlock();
  send(leave);
}

bool AgentClient::leaves() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return leaves_;
}

bool AgentClient::released() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return released_;
}

void AgentClient::bye() {
  std::unique_lock<std::mutex> lock(mutex_);
  const Bye bye{epoch_};
  lock.unlock();
  send(bye);
}

std::string AgentClient::why_not(std::int64_t epoch) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_over = [&] { return epoch_ != epoch || interrupted_ || finished_ || released_ || gone_ || aborted_; };
  if (is_over()) return kEpochIsOver;
  const Permit request{epoch, ++requests_};
  permitted_.reset();
  lock.unlock();
  send(request);
  lock.lock();
  changed_.wait(lock, [&] { return permitted_ || is_over(); });
  return permitted_ && permitted_->epoch == epoch ? permitted_->why_not : kEpochIsOver;
}

// ------------------------------------------------------------------------------------------------------ messages

void AgentClient::send(const Message& message) {
  const std::string bytes = encode(message);
  const std::lock_guard<std::mutex> lock(send_mutex_);
  for (;;) {
    switch (membership::send(socket_, bytes)) {
      case Sent::kAll:
        return;
      case Sent::kEnd:
        throw_gone();
      case Sent::kFull:
        break;
    }
    pollfd ready{socket_.get(), POLLOUT, 0};
    if (poll(&ready, 1, kSendPatience) == 0) {
      throw Error(ErrorCode::kTimeout, "the launcher (`tandem run`, at " + path_ + ") has read nothing for " +
                                           std::to_string(kSendPatience / 1000) + " s; is it stopped?");
    }
  }
}

// One at a time: on_interrupt() waits for it.
void AgentClient::act_now(std::unique_lock<std::mutex>& lock) {
  changed_.notify_all();
  changed_.wait(lock, [this] { return !acting_; });
  const auto act = std::exchange(act_, nullptr);
  if (!act) return;
  acting_ = true;
  lock.unlock();
  act();
  lock.lock();
  acting_ = false;
  changed_.notify_all();
}

void AgentClient::abort() {
  std::unique_lock<std::mutex> lock(mutex_);
  aborted_ = true;
  act_now(lock);
}

void AgentClient::check_usable() const {
  if (aborted_) throw Error(ErrorCode::kAborted, "the elastic training was aborted");
  if (gone_) throw_gone();
}

void AgentClient::throw_gone() const {
  throw Error(ErrorCode::kPeerLost, "the launcher (`tandem run`, at " + path_ +
                                        ") is gone, or has cut this worker off; without it ranks cannot meet again");
}

void AgentClient::listen() {
  std::string bytes;
  for (;;) {
    pollfd polled[] = {{socket_.get(), POLLIN, 0}, {end_.read.get(), POLLIN, 0}};
    poll(polled, 2, kReportEvery);
    if (polled[1].revents) return;
    bool ends = false;
    for (;;) {
      const Received got = receive(socket_, &bytes);
      if (got == Received::kNothing) break;
      try {
        if (got == Received::kMessage) {
          handle(decode(bytes));
          continue;
        }
      } catch (const Error&) {  // such an agent is none
      }
      ends = true;
      break;
    }
    if (!ends) {
      try {
        report_progress(/*is_due=*/false);
        continue;
      } catch (const Error&) {
      }
    }
    std::unique_lock<std::mutex> lock(mutex_);
    gone_ = true;
    act_now(lock);
    return;
  }
}

void AgentClient::handle(const Message& message) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (const auto* form = std::get_if<Form>(&message)) {
    form_ = *form;
    epoch_ = form->epoch;
    interrupted_.reset();
    stop_.reset();
  } else if (std::holds_alternative<Finished>(message)) {
    finished_ = true;
  } else if (std::holds_alternative<Released>(message)) {
    released_ = true;
  } else if (const auto* interrupt = std::get_if<Interrupt>(&message)) {
    if (interrupt->epoch != epoch_ || interrupted_) return;
    interrupted_ = interrupt->reason;
    act_now(lock);
    return;
  } else if (const auto* pause = std::get_if<Pause>(&message)) {
    if (pause->epoch != epoch_) return;
    PauseAnswer answer{pause->epoch, pause->number, step_, step_ < pause->step};
    stop_.reset();
    if (answer.accepted) stop_ = Stop{pause->number, pause->step};
    changed_.notify_all();
    lock.unlock();
    send(answer);
    return;
  } else if (const auto* permitted = std::get_if<Permitted>(&message)) {
    if (permitted->epoch == epoch_ && permitted->number == requests_) permitted_ = *permitted;
  } else if (const auto* go = std::get_if<Go>(&message)) {
    if (stop_ && go->epoch == epoch_ && go->number == stop_->number) {
      stop_->agreed = true;
      stop_->may_leave = go->may_leave;
    }
  }
  changed_.notify_all();
}

void AgentClient::tell_waiting(std::function<bool()> waits) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !acting_; });
  waits_ = std::move(waits);
}

void AgentClient::report_progress(bool is_due) {
  const auto now = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  if (!is_due && reported_ == step_ && now - reported_at_ < kSignOfLife) return;
  reported_ = step_;
  reported_at_ = now;
  Progress progress{epoch_, step_, waits_at_stop_, text_};
  // Not before another call has ended: whoever takes the function away waits for that.
  changed_.wait(lock, [this] { return !acting_; });
  if (waits_) {
    const auto waits = waits_;
    acting_ = true;
    lock.unlock();
    const bool is_waiting = waits();
    lock.lock();
    progress.waits |= is_waiting;
    acting_ = false;
    changed_.notify_all();
  }
  lock.unlock();
  send(progress);
}

}  // namespace tandem::membership
