// What ranks and the keeper of their queue tell each other, as bytes from other processes.
#include "elastic/lease_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "cpp/data/expect_error.h"

namespace tandem::lease_messages_test {
namespace {

using elastic::LeaseMessage;
using elastic::LeaseReply;

constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max();

std::vector<LeaseMessage> messages() {
  const Lease part{3, 5, 70000, kLarge, 8};
  const LeasePlan plan{.positions = kLarge, .batch_size = 64, .micro_batch = 4, .content = ~std::uint64_t{0}};
  return {{0, elastic::BeginRequest{plan, 4, 2, 3, 1, 64, {{-7, 1, 2, 3, "broken"}, {8, 0, 0, 1, ""}}}},
          {1, elastic::PartRequest{kLarge, 0}},
          {2, elastic::CompleteRequest{part, 6, {{70000, 0, 1}, {70000, 7, 1}}}},
          {3, elastic::FailRequest{part, -9, std::string("n\0t", 3)}},
          {4, elastic::RecordRequest{1, 2}},
          {5, elastic::CommitRequest{1, 2}},
          {6, elastic::HoldersRequest{1, 2}},
          {std::numeric_limits<std::uint32_t>::max(), elastic::BeatRequest()},
          {0, elastic::FenceRequest{kLarge}}};
}

std::vector<LeaseReply> replies() {
  LeaseReply part, record, stale, holders;
  part.part = Lease{1, 2, 3, 4, 5};
  part.first_quarantined = 2;
  part.quarantine = {{5, 1, 0, 3, "why"}};
  record.record = CommittedStep{2, 1, 7, {{1, 0, 8}, {0, 299, 0}, {2, 0, 8}}, {{5, 1, 0, 3, "why"}}, {{0, 0, 8}}};
  stale.answer = LeaseQueue::Answer::kStale;
  stale.generation = 9;
  holders.holders = {{0, 1}, {299, 65536}};
  return {LeaseReply(), part, record, stale, holders};
}

TEST(LeaseMessages, ComeAsTheyWent) {
  for (const LeaseMessage& message : messages()) {
    const LeaseMessage parsed = LeaseMessage::parse(message.bytes());
    EXPECT_EQ(parsed.request.index(), message.request.index());
    EXPECT_EQ(parsed.known, message.known);
    EXPECT_EQ(parsed.bytes(), message.bytes());
  }
  const auto begin = LeaseMessage::parse(messages()[0].bytes());
  const auto& begun = std::get<elastic::BeginRequest>(begin.request);
  EXPECT_EQ(begun.plan.content, ~std::uint64_t{0});
  EXPECT_EQ(begun.quarantine, (std::vector<Quarantined>{{-7, 1, 2, 3, "broken"}, {8, 0, 0, 1, ""}}));
  const auto complete = LeaseMessage::parse(messages()[2].bytes());
  EXPECT_EQ(std::get<elastic::CompleteRequest>(complete.request).part, (Lease{3, 5, 70000, kLarge, 8}));
  for (const LeaseReply& reply : replies()) {
    const LeaseReply parsed = LeaseReply::parse(reply.bytes());
    EXPECT_EQ(parsed.answer, reply.answer);
    EXPECT_EQ(parsed.generation, reply.generation);
    EXPECT_EQ(parsed.first_quarantined, reply.first_quarantined);
    EXPECT_EQ(parsed.quarantine, reply.quarantine);
    EXPECT_EQ(parsed.part, reply.part);
    EXPECT_EQ(parsed.record, reply.record);
    EXPECT_EQ(parsed.holders, reply.holders);
  }
  const std::string refused = LeaseReply::bytes_of(Error(ErrorCode::kInvalidArgument, "no such part"));
  EXPECT_ERROR(LeaseReply::parse(refused), ErrorCode::kInvalidArgument, "no such part");
}

// Each rank gets the record of each step: a few bytes a part.
TEST(LeaseMessages, RecordsAreShort) {
  LeaseReply reply;
  reply.record.emplace();
  constexpr std::int32_t kParts = 4096;
  for (std::int32_t i = 0; i < kParts; ++i) reply.record->parts.push_back({i, i % 256, 32});
  EXPECT_LT(reply.bytes().size(), 5 * kParts);
}

// Whatever else changed bytes say, they are read within their bounds, and numbers from which places are counted are not
// below zero.
TEST(LeaseMessages, ChangedBytesAreRefusedOrRead) {
  const auto expect_data_loss = [](auto&& parse) {
    try {
      parse();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << error.what();
    }
  };
  for (const LeaseMessage& message : messages()) {
    const std::string bytes = message.bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_ERROR(LeaseMessage::parse(bytes.substr(0, size)), ErrorCode::kDataLoss, "no request");
    }
    EXPECT_ERROR(LeaseMessage::parse(bytes + "x"), ErrorCode::kDataLoss, "no request");
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int change = 1; change < 256; ++change) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ change);
        expect_data_loss([&] {
          const LeaseMessage parsed = LeaseMessage::parse(changed);
          if (const auto* done = std::get_if<elastic::CompleteRequest>(&parsed.request)) {
            EXPECT_GE(std::min({done->part.epoch, done->part.step, std::int64_t{done->part.micro}}), 0);
          }
          if (const auto* part = std::get_if<elastic::PartRequest>(&parsed.request)) {
            EXPECT_GE(std::min(part->epoch, part->step), 0);
          }
        });
      }
    }
  }
  for (const LeaseReply& reply : replies()) {
    const std::string bytes = reply.bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_ERROR(LeaseReply::parse(bytes.substr(0, size)), ErrorCode::kDataLoss, "no answer");
    }
    for (std::size_t at = 1; at < bytes.size(); ++at) {  // the first byte says whether it is an error
      for (int change = 1; change < 256; ++change) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ change);
        expect_data_loss([&] { LeaseReply::parse(changed); });
      }
    }
  }
}

}  // namespace
}  // namespace tandem::lease_messages_test
