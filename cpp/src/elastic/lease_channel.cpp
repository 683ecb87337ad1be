#include "elastic/lease_channel.h"

#include <algorithm>
#include <utility>

#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeastSilence{2000};
constexpr milliseconds kShortestInterval{1}, kLongestInterval{60000};

requests::RequestClient::Options options_of(const std::string& keeper, milliseconds lost_after, milliseconds timeout) {
  requests::RequestClient::Options options;
  options.server = keeper;
  options.advice = kAdvice;
  options.beat = LeaseMessage{0, BeatRequest()}.bytes();
  options.silence = most_silence(lost_after, timeout);
  options.interval = std::clamp(std::min(lost_after, options.silence) / 5, kShortestInterval, kLongestInterval);
  return options;
}

}  // namespace

milliseconds most_silence(milliseconds lost_after, milliseconds timeout) {
  return std::max(std::min(lost_after, timeout), kLeastSilence);
}

void throw_given_up(const LeaseRank& self, std::int64_t generation) {
  throw Error(ErrorCode::kAborted,
              "rank " + std::to_string(self.rank) + " of generation " + std::to_string(self.generation) +
                  (generation == self.generation
                       ? " was given up by the others, for it left, or gave no sign of life"
                       : " is out of date: generation " + std::to_string(generation) + " has begun") +
                  "; " + kAdvice);
}

LeaseChannel::LeaseChannel(const LeaseRank& self, const std::string& keeper, Descriptor connection,
                           milliseconds lost_after, milliseconds timeout)
    : self_(self), client_(std::move(connection), options_of(keeper, lost_after, timeout)) {}

LeaseReply LeaseChannel::call(decltype(LeaseMessage::request) request) {
  LeaseMessage message{0, std::move(request)};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    message.known = static_cast<std::uint32_t>(quarantine_.size());
  }
  LeaseReply reply = LeaseReply::parse(client_.call(message.bytes()));
  if (reply.answer == Answer::kStale) throw_given_up(self_, reply.generation);
  if (!reply.quarantine.empty()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Another thread's answer may have brought some of them.
    for (std::size_t i = 0; i < reply.quarantine.size(); ++i) {
      if (reply.first_quarantined + i == quarantine_.size()) quarantine_.push_back(std::move(reply.quarantine[i]));
    }
  }
  return reply;
}

void LeaseChannel::begin(const LeasePlan& plan, std::int64_t epoch, std::int64_t position,
                         const std::vector<Quarantined>& quarantine) {
  BeginRequest request{plan, self_.generation, self_.rank, self_.world_size, epoch, position, quarantine};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    quarantine_ = quarantine;
  }
  call(std::move(request));
}

LeaseChannel::Answer LeaseChannel::lease(std::int64_t epoch, std::int64_t step, Lease* out) {
  const LeaseReply reply = call(PartRequest{epoch, step});
  if (reply.answer != Answer::kDone) return reply.answer;
  if (!reply.part || reply.part->epoch != epoch || reply.part->step != step) {
    throw Error(ErrorCode::kDataLoss, "who keeps the queue of leases gave no part of step " + std::to_string(step));
  }
  *out = *reply.part;
  return Answer::kDone;
}

void LeaseChannel::complete(const Lease& part, std::int64_t samples,
                            const std::vector<CommittedStep::Skipped>& skipped) {
  call(CompleteRequest{part, samples, skipped});
}

void LeaseChannel::fail(const Lease& part, std::int64_t sample, const std::string& reason) {
  call(FailRequest{part, sample, reason});
}

CommittedStep LeaseChannel::record(std::int64_t epoch, std::int64_t step) {
  LeaseReply reply = call(RecordRequest{epoch, step});
  if (!reply.record) {
    throw Error(ErrorCode::kDataLoss, "who keeps the queue of leases gave no record of step " + std::to_string(step));
  }
  return *std::move(reply.record);
}

void LeaseChannel::commit(std::int64_t epoch, std::int64_t step) {
  call(CommitRequest{epoch, step});
}

std::map<std::int32_t, int> LeaseChannel::holders(std::int64_t epoch, std::int64_t step) {
  return call(HoldersRequest{epoch, step}).holders;
}

std::vector<Quarantined> LeaseChannel::quarantine() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return quarantine_;
}

}  // namespace tandem::elastic
