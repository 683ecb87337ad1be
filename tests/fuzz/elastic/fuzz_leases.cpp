// Damaged messages about leases: to who keeps the queue, and from there. What is read is asked of a queue.
//
//   fuzz_leases SECONDS SEED
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "comm/requests/frames.h"
#include "elastic/lease_messages.h"
#include "fuzz/fuzz.h"
#include "tandem/lease_queue.h"

namespace {

using tandem::Lease;
using tandem::LeasePlan;
using tandem::LeaseQueue;
using tandem::test::FileBytes;
using tandem::elastic::BeatRequest;
using tandem::elastic::BeginRequest;
using tandem::elastic::CommitRequest;
using tandem::elastic::CompleteRequest;
using tandem::elastic::FailRequest;
using tandem::elastic::FenceRequest;
using tandem::elastic::HoldersRequest;
using tandem::elastic::LeaseMessage;
using tandem::elastic::LeaseReply;
using tandem::elastic::PartRequest;
using tandem::elastic::RecordRequest;

constexpr LeasePlan kPlan{.positions = 20, .batch_size = 8, .micro_batch = 3};

FileBytes framed(const std::string& message) {
  std::string frame;
  tandem::requests::append_frame(frame, 7, message);
  return {frame.begin(), frame.end()};
}

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : fuzz_(seed) {
    const Lease part{0, 0, 1, 3, 3};
    const LeaseMessage messages[] = {{0, BeginRequest{kPlan, 1, 0, 2, 0, 8, {{4, 0, 0, 3, "broken"}}}},
                                     {1, PartRequest{0, 0}},
                                     {1, CompleteRequest{part, 2, {{1, 0, 1}}}},
                                     {2, FailRequest{part, 4, "not a number"}},
                                     {0, RecordRequest{0, 1}},
                                     {0, CommitRequest{0, 1}},
                                     {0, HoldersRequest{0, 1}},
                                     {0, BeatRequest()},
                                     {0, FenceRequest{3}}};
    for (const LeaseMessage& message : messages) requests_.push_back(framed(message.bytes()));
    LeaseReply reply;
    reply.part = part;
    reply.quarantine = {{4, 0, 0, 3, "broken"}};
    replies_.push_back(framed(reply.bytes()));
    reply.record = tandem::CommittedStep{1, 0, 0, {{1, 0, 3}, {0, 1, 3}, {2, 0, 2}}, {}, {{1, 0, 1}}};
    reply.holders = {{0, 1}, {1, 2}};
    replies_.push_back(framed(reply.bytes()));
  }

  void run(double seconds) {
    fuzz_.run(seconds, [this] {
      for_each_frame(fuzz_.mutant(requests_), [](std::string_view bytes) { ask(LeaseMessage::parse(bytes)); });
      for_each_frame(fuzz_.mutant(replies_), [](std::string_view bytes) {
        if (!bytes.empty() && static_cast<std::uint8_t>(bytes[0]) != 0xff) LeaseReply::parse(bytes);  // no error
      });
    });
  }

 private:
  // As they come, in pieces.
  template <typename Handle>
  void for_each_frame(const FileBytes& bytes, Handle&& handle) {
    fuzz_.expect_records_or_error([&] {
      tandem::requests::FrameReader reader;
      const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      for (std::size_t at = 0; at < all.size();) {
        const std::size_t size = std::min(1 + fuzz_.below(40), all.size() - at);
        reader.add(all.substr(at, size));
        at += size;
        while (const auto frame = reader.next()) handle(frame->bytes);
      }
    });
  }

  static void ask(const LeaseMessage& message) {
    LeaseQueue queue(kPlan);
    queue.begin(1, 2, 0, 0, {});
    Lease part;
    tandem::CommittedStep record;
    queue.lease(1, 0, 0, 0, &part), queue.lease(1, 0, 0, 0, &part);
    try {
      if (const auto* begin = std::get_if<BeginRequest>(&message.request)) {
        queue.require(begin->plan);
        queue.begin(begin->generation, begin->world_size, begin->epoch, begin->position, begin->quarantine);
      } else if (const auto* wanted = std::get_if<PartRequest>(&message.request)) {
        queue.lease(1, 0, wanted->epoch, wanted->step, &part);
      } else if (const auto* done = std::get_if<CompleteRequest>(&message.request)) {
        queue.complete(1, 0, done->part, done->samples, done->skipped);
      } else if (const auto* failed = std::get_if<FailRequest>(&message.request)) {
        queue.fail(1, 0, failed->part, failed->sample, failed->reason);
      } else if (const auto* commit = std::get_if<CommitRequest>(&message.request)) {
        queue.commit(1, 0, commit->epoch, commit->step, &record);
      } else if (const auto* of = std::get_if<RecordRequest>(&message.request)) {
        queue.record(of->epoch, of->step);
      } else if (const auto* held = std::get_if<HoldersRequest>(&message.request)) {
        queue.holders(held->epoch, held->step);
      }
    } catch (const tandem::Error& error) {  // what a rank may not ask is refused as such
      if (error.code() != tandem::ErrorCode::kInvalidArgument) throw;
    }
    queue.lose(1, 0);
  }

  tandem::test::Fuzz fuzz_;
  std::vector<FileBytes> requests_, replies_;
};

}  // namespace

int main(int argc, char** argv) {
  return tandem::test::fuzz_main(argc, argv, [](double seconds, unsigned seed) { Fuzzer(seed).run(seconds); });
}
