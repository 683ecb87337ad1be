// What ranks ask the one that keeps the queue of leases, and what it answers, as bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tandem/lease_log.h"
#include "tandem/lease_queue.h"

namespace tandem::elastic {

// The first of a connection. All others but Fence are in the name of the rank that said this.
struct BeginRequest {
  LeasePlan plan;
  std::int64_t generation = 0;
  std::int32_t rank = 0;
  std::int32_t world_size = 0;
  std::int64_t epoch = 0;
  std::int64_t position = 0;
  std::vector<Quarantined> quarantine;
};
struct PartRequest {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
};
struct CompleteRequest {
  Lease part;
  std::int64_t samples = 0;
  std::vector<CommittedStep::Skipped> skipped;
};
struct FailRequest {
  Lease part;
  std::int64_t sample = 0;
  std::string reason;
};
struct RecordRequest {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
};
struct CommitRequest {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
};
struct HoldersRequest {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
};
struct BeatRequest {};
// From who keeps the queue of a newer generation: this one is over.
struct FenceRequest {
  std::int64_t generation = 0;
};

struct LeaseMessage {
  std::uint32_t known = 0;  // samples in quarantine that the rank knows
  std::variant<BeginRequest, PartRequest, CompleteRequest, FailRequest, RecordRequest, CommitRequest, HoldersRequest,
               BeatRequest, FenceRequest>
      request;

  std::string bytes() const;
  // Throws Error(kDataLoss) for what is no such message. Numbers of epochs, steps and parts are at least 0.
  static LeaseMessage parse(std::string_view bytes);
};

struct LeaseReply {
  LeaseQueue::Answer answer = LeaseQueue::Answer::kDone;
  std::int64_t generation = 0;         // of kStale: the one that has begun
  std::uint32_t first_quarantined = 0;  // the number of the first of these
  std::vector<Quarantined> quarantine;  // behind those that the rank knows
  std::optional<Lease> part;
  std::optional<CommittedStep> record;
  std::map<std::int32_t, int> holders;  // by rank, the parts that it holds

  std::string bytes() const;
  // Of a reply that is an error, which parse() throws.
  static std::string bytes_of(const std::exception& error);
  // Throws Error(kDataLoss) for what is no reply.
  static LeaseReply parse(std::string_view bytes);
};

}  // namespace tandem::elastic
