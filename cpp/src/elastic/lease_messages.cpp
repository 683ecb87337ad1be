#include "elastic/lease_messages.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/packed.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

constexpr std::size_t kLeastNumber = 1;  // bytes

// Seven bits a byte, the lowest first, and of a number below zero all ones but its bits: small ones take one byte.
void put(Packer& out, std::int64_t number) {
  auto rest = static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
  for (; rest >= 0x80; rest >>= 7) out << static_cast<std::uint8_t>(rest | 0x80);
  out << static_cast<std::uint8_t>(rest);
}

std::int64_t take(Unpacker& in) {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = in.take<std::uint8_t>();
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return static_cast<std::int64_t>(number >> 1 ^ (~(number & 1) + 1));
  }
  throw Unpacker::Ended();
}

std::int64_t take_natural(Unpacker& in) {
  const std::int64_t number = take(in);
  if (number < 0) throw Unpacker::Ended();
  return number;
}

template <typename T>
T take_small(Unpacker& in) {
  const std::int64_t number = take(in);
  if (!std::in_range<T>(number)) throw Unpacker::Ended();
  return static_cast<T>(number);
}

void put(Packer& out, const Lease& part) {
  put(out, part.epoch), put(out, part.step), put(out, part.micro), put(out, part.begin), put(out, part.size);
}

Lease take_part(Unpacker& in) {
  Lease part;
  part.epoch = take_natural(in);
  part.step = take_natural(in);
  part.micro = take_small<std::int32_t>(in);
  part.begin = take_natural(in);
  part.size = take_natural(in);
  if (part.micro < 0) throw Unpacker::Ended();
  return part;
}

void put(Packer& out, const std::vector<Quarantined>& items) {
  out << static_cast<std::uint32_t>(items.size());
  for (const Quarantined& item : items) {
    put(out, item.sample), put(out, item.epoch), put(out, item.step), put(out, item.failures);
    out << std::string_view(item.reason);
  }
}

std::vector<Quarantined> take_quarantine(Unpacker& in) {
  std::vector<Quarantined> items(in.count(4 * kLeastNumber + sizeof(std::uint32_t)));
  for (Quarantined& item : items) {
    item.sample = take(in);
    item.epoch = take_natural(in);
    item.step = take_natural(in);
    item.failures = take_small<std::int32_t>(in);
    item.reason = in.text();
  }
  return items;
}

void put(Packer& out, const std::vector<CommittedStep::Skipped>& runs) {
  out << static_cast<std::uint32_t>(runs.size());
  for (const auto& run : runs) put(out, run.micro), put(out, run.first), put(out, run.count);
}

std::vector<CommittedStep::Skipped> take_skipped(Unpacker& in) {
  std::vector<CommittedStep::Skipped> runs(in.count(3 * kLeastNumber));
  for (auto& run : runs) {
    run.micro = take_small<std::int32_t>(in);
    run.first = take(in);
    run.count = take(in);
  }
  return runs;
}

// Each rank gets that of each step, so it is to be short: the number of a part is that of the one before and one more,
// as a rule.
void put(Packer& out, const CommittedStep& record) {
  put(out, record.generation), put(out, record.epoch), put(out, record.step);
  out << static_cast<std::uint32_t>(record.parts.size());
  std::int64_t expected = 0;
  for (const auto& part : record.parts) {
    put(out, part.micro - expected), put(out, part.rank), put(out, part.samples);
    expected = part.micro + std::int64_t{1};
  }
  put(out, record.left_out);
  put(out, record.skipped);
}

CommittedStep take_record(Unpacker& in) {
  CommittedStep record;
  record.generation = take(in);
  record.epoch = take_natural(in);
  record.step = take_natural(in);
  record.parts.resize(in.count(3 * kLeastNumber));
  std::int64_t expected = 0;
  for (auto& part : record.parts) {
    const std::int64_t difference = take_small<std::int32_t>(in);
    if (!std::in_range<std::int32_t>(expected + difference)) throw Unpacker::Ended();
    part.micro = static_cast<std::int32_t>(expected + difference);
    part.rank = take_small<std::int32_t>(in);
    part.samples = take(in);
    expected = part.micro + std::int64_t{1};
  }
  record.left_out = take_quarantine(in);
  record.skipped = take_skipped(in);
  return record;
}

void put(Packer& out, const LeasePlan& plan) {
  put(out, plan.positions), put(out, plan.batch_size), put(out, plan.micro_batch);
  put(out, static_cast<std::int64_t>(plan.tail));
  put(out, plan.most_failures), put(out, plan.most_quarantined), put(out, plan.steps_ahead);
  out << plan.content;
}

LeasePlan take_plan(Unpacker& in) {
  LeasePlan plan;
  plan.positions = take(in);
  plan.batch_size = take(in);
  plan.micro_batch = take(in);
  plan.tail = static_cast<Tail>(take_small<std::underlying_type_t<Tail>>(in));
  plan.most_failures = take_small<int>(in);
  plan.most_quarantined = take_small<int>(in);
  plan.steps_ahead = take_small<int>(in);
  plan.content = in.take<std::uint64_t>();
  return plan;
}

// What a request has, by its type.
struct PutRequest {
  Packer& out;

  void operator()(const BeginRequest& request) const {
    put(out, request.plan);
    put(out, request.generation), put(out, request.rank), put(out, request.world_size);
    put(out, request.epoch), put(out, request.position);
    put(out, request.quarantine);
  }
  void operator()(const CompleteRequest& request) const {
    put(out, request.part), put(out, request.samples), put(out, request.skipped);
  }
  void operator()(const FailRequest& request) const {
    put(out, request.part), put(out, request.sample);
    out << std::string_view(request.reason);
  }
  void operator()(const BeatRequest&) const {}
  void operator()(const FenceRequest& request) const { put(out, request.generation); }
  template <typename OfAStep>
  void operator()(const OfAStep& request) const {
    put(out, request.epoch), put(out, request.step);
  }
};

struct TakeRequest {
  Unpacker& in;

  void operator()(BeginRequest& request) const {
    request.plan = take_plan(in);
    request.generation = take(in);
    request.rank = take_small<std::int32_t>(in);
    request.world_size = take_small<std::int32_t>(in);
    request.epoch = take(in);
    request.position = take(in);
    request.quarantine = take_quarantine(in);
  }
  void operator()(CompleteRequest& request) const {
    request.part = take_part(in);
    request.samples = take(in);
    request.skipped = take_skipped(in);
  }
  void operator()(FailRequest& request) const {
    request.part = take_part(in);
    request.sample = take(in);
    request.reason = in.text();
  }
  void operator()(BeatRequest&) const {}
  void operator()(FenceRequest& request) const { request.generation = take_natural(in); }
  template <typename OfAStep>
  void operator()(OfAStep& request) const {
    request.epoch = take_natural(in);
    request.step = take_natural(in);
  }
};

using AnyRequest = decltype(LeaseMessage::request);

// The alternative of that number.
template <std::size_t i = 0>
AnyRequest request_of(std::size_t number) {
  if constexpr (i < std::variant_size_v<AnyRequest>) {
    return number == i ? AnyRequest(std::in_place_index<i>) : request_of<i + 1>(number);
  } else {
    throw Unpacker::Ended();
  }
}

template <typename Take>
auto taken(const char* what, std::string_view bytes, Take&& take) {
  try {
    Unpacker in(bytes);
    auto message = take(in);
    if (in.at_end()) return message;
  } catch (const Unpacker::Ended&) {
  }
  throw Error(ErrorCode::kDataLoss, "this is no " + std::string(what) + " about leases: it has " +
                                        std::to_string(bytes.size()) + " bytes");
}

constexpr std::uint8_t kError = 0xff;  // in place of an answer
constexpr std::uint8_t kHasPart = 1, kHasRecord = 2, kHasHolders = 4, kHasQuarantine = 8, kHasGeneration = 16;

}  // namespace

std::string LeaseMessage::bytes() const {
  Packer out;
  out << static_cast<std::uint8_t>(request.index());
  put(out, known);
  std::visit(PutRequest{out}, request);
  return std::move(out).bytes();
}

LeaseMessage LeaseMessage::parse(std::string_view bytes) {
  return taken("request", bytes, [](Unpacker& in) {
    LeaseMessage message;
    message.request = request_of(in.take<std::uint8_t>());
    message.known = take_small<std::uint32_t>(in);
    std::visit(TakeRequest{in}, message.request);
    return message;
  });
}

std::string LeaseReply::bytes() const {
  Packer out;
  const int has = (part ? kHasPart : 0) | (record ? kHasRecord : 0) | (holders.empty() ? 0 : kHasHolders) |
                  (quarantine.empty() ? 0 : kHasQuarantine) | (generation == 0 ? 0 : kHasGeneration);
  out << static_cast<std::uint8_t>(answer) << static_cast<std::uint8_t>(has);
  if (generation != 0) put(out, generation);
  if (!quarantine.empty()) put(out, first_quarantined), put(out, quarantine);
  if (part) put(out, *part);
  if (record) put(out, *record);
  if (!holders.empty()) {
    out << static_cast<std::uint32_t>(holders.size());
    for (const auto& [rank, parts] : holders) put(out, rank), put(out, parts);
  }
  return std::move(out).bytes();
}

std::string LeaseReply::bytes_of(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  Packer out;
  out << kError << static_cast<std::int32_t>(ours ? ours->code() : ErrorCode::kInternal)
      << std::string_view(error.what());
  return std::move(out).bytes();
}

LeaseReply LeaseReply::parse(std::string_view bytes) {
  std::optional<Error> error;
  LeaseReply found = taken("answer", bytes, [&](Unpacker& in) {
    LeaseReply reply;
    const auto answer = in.take<std::uint8_t>();
    if (answer == kError) {
      const auto code = in.take<std::int32_t>();
      error.emplace(static_cast<ErrorCode>(code), std::string(in.text()));
      return reply;
    }
    if (answer > static_cast<std::uint8_t>(LeaseQueue::Answer::kStale)) throw Unpacker::Ended();
    reply.answer = static_cast<LeaseQueue::Answer>(answer);
    const auto has = in.take<std::uint8_t>();
    if (has & kHasGeneration) reply.generation = take(in);
    if (has & kHasQuarantine) {
      reply.first_quarantined = take_small<std::uint32_t>(in);
      reply.quarantine = take_quarantine(in);
    }
    if (has & kHasPart) reply.part = take_part(in);
    if (has & kHasRecord) reply.record = take_record(in);
    if (has & kHasHolders) {
      for (std::size_t left = in.count(2 * kLeastNumber); left > 0; --left) {
        const auto rank = take_small<std::int32_t>(in);
        reply.holders[rank] = take_small<int>(in);
      }
    }
    return reply;
  });
  if (error) throw *error;
  return found;
}

}  // namespace tandem::elastic
