#include "launch/doctor/hosts/reach.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tandem/error.h"

namespace tandem::doctor {
namespace {

std::string words_of(int failure) {
  if (failure == ECONNREFUSED) return "refused";
  if (failure == ETIMEDOUT) return "timed out";
  return std::strerror(failure);
}

}  // namespace

Reach::Reach(const std::vector<net::Endpoint>& targets, std::string token, Clock::time_point until)
    : token_(std::move(token)), until_(until) {
  for (const net::Endpoint& target : targets) {
    Attempt attempt;
    int failure = 0;
    try {
      attempt.socket = net::begin_to_connect(target, &failure);
    } catch (const Error& error) {
      attempt.outcome = error.what();
    }
    if (failure != 0) attempt.outcome = words_of(failure);
    attempt.is_over = !attempt.outcome.empty();
    attempts_.push_back(std::move(attempt));
  }
}

bool Reach::is_over() const {
  return std::ranges::all_of(attempts_, [](const Attempt& one) { return one.is_over; });
}

void Reach::add_polled(std::vector<pollfd>* polled) const {
  for (const Attempt& one : attempts_) {
    if (!one.is_over) polled->push_back({one.socket.get(), static_cast<short>(one.is_connected ? POLLIN : POLLOUT), 0});
  }
}

void Reach::serve(Attempt& attempt) const {
  pollfd ready{attempt.socket.get(), static_cast<short>(attempt.is_connected ? POLLIN : POLLOUT), 0};
  if (poll(&ready, 1, 0) == 1) {
    if (!attempt.is_connected) {
      if (const int failure = net::outcome_of_connecting(attempt.socket.get()); failure != 0)
        attempt.outcome = words_of(failure);
      attempt.is_connected = true;
    } else {
      char bytes[256];
      const ssize_t size = recv(attempt.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (size > 0) attempt.got.append(bytes, static_cast<std::size_t>(size));
      if (attempt.got.starts_with(token_)) {
        attempt.is_over = true;
        return;
      }
      if (size < 0) attempt.outcome = words_of(errno);
      if (size == 0 || !token_.starts_with(attempt.got)) attempt.outcome = "another program answers there";
    }
    attempt.is_over = !attempt.outcome.empty();
  }
  if (attempt.is_over || Clock::now() < until_) return;
  attempt.outcome = attempt.is_connected ? "connected, but nothing came" : "timed out";
  attempt.is_over = true;
}

void Reach::serve() {
  for (Attempt& one : attempts_) {
    if (!one.is_over) serve(one);
  }
}

std::vector<std::string> Reach::outcomes() const {
  std::vector<std::string> all;
  for (const Attempt& one : attempts_) all.push_back(one.outcome);
  return all;
}

}  // namespace tandem::doctor
