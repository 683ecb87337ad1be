#include <ATen/core/ivalue.h>

#include <thread>

#include "comm/flight_recorder.h"
#include "tandem/process_group.h"

namespace tandem {
namespace {

thread_local bool waits_at_once = false;

}  // namespace

WaitsAtOnce::WaitsAtOnce(bool waits) : before_(std::exchange(waits_at_once, waits)) {}

WaitsAtOnce::~WaitsAtOnce() {
  waits_at_once = before_;
}

bool WaitsAtOnce::now() {
  return waits_at_once;
}
void Work::wait(std::chrono::milliseconds timeout) {
  if (!work_) throw Error(ErrorCode::kClosed, "the work is empty: it belongs to no collective");
  work_->wait(timeout);
}

void Work::synchronize(std::chrono::milliseconds timeout) {
  wait(timeout);
  // The backend ends what takes longer than the group's timeout.
  while (!work_->isCompleted()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  if (const auto failure = error()) throw *failure;
}

bool Work::is_completed() const {
  return !work_ || work_->isCompleted();
}

std::optional<Error> Work::error() const {
  if (!work_ || !work_->isCompleted() || work_->isSuccess()) return std::nullopt;
  try {
    std::rethrow_exception(work_->exception());
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error(ErrorCode::kPeerLost, error.what());
  }
}

int Work::source_rank() const {
  if (!work_ || !work_->isCompleted() || !work_->isSuccess()) return -1;
  const c10d::OpType type = work_->retrieveOpType();
  return type == c10d::OpType::RECV || type == c10d::OpType::RECVANYSOURCE ? work_->sourceRank() : -1;
}

std::string flight_record() {
  return FlightRecorder::instance().json();
}

}  // namespace tandem
