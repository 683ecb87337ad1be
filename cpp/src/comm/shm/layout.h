// What lies where in the memory that a rank shares with the others of its host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comm/shm/event_count.h"

namespace tandem::shm {

enum class CollectiveKind : std::uint32_t {
  kNone,
  kAllReduce,
  kBroadcast,
  kReduce,
  kAllGather,
  kGather,
  kScatter,
  kReduceScatter,
  kAllToAll,
  kBarrier,
};
const char* name_of(CollectiveKind collective);

// How bytes are read as numbers. kBytes: they are only moved.
enum class Element : std::uint32_t {
  kBytes,
  kU8,
  kI8,
  kI16,
  kI32,
  kI64,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kBool
};
const char* name_of(Element element);
std::size_t size_of(Element element);

enum class Operation : std::uint32_t {
  kNone,
  kSum,
  kAverage,
  kProduct,
  kMin,
  kMax,
  kBitAnd,
  kBitOr,
  kBitXor,
  kScaledSum,  // of each rank's elements times that rank's factor
};
const char* name_of(Operation operation);

// What a rank says it does with a slot. Ranks whose calls do not fit find out by comparing these.
struct Label {
  std::uint64_t sequence = 0;  // of the collective on this group
  CollectiveKind collective = CollectiveKind::kNone;
  Element element = Element::kBytes;
  Operation operation = Operation::kNone;
  std::int32_t root = -1;
  std::uint64_t bytes = 0;   // the same on every rank
  std::uint64_t extent = 0;  // of this rank alone; of an all-reduce: where in the segment its tensor lies, or 0
  double factor = 1;         // of this rank alone
};
// Whether they say the same, but for what is a rank's own.
bool are_alike(const Label& a, const Label& b);

// Ranks exchange in steps. At each, each rank fills one slot of its own, says so, and reads others'; slots take turns.
constexpr std::uint32_t kSlots = 4;
constexpr std::size_t kSlotBytes = std::size_t{256} << 10;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLine = 64;

struct alignas(kLine) SlotLabel {
  Label label;
};
static_assert(sizeof(SlotLabel) == kLine);

enum class Condition : std::uint32_t {
  kGood,
  kFailed,  // and the group with it
  kClosed,  // the group, with nothing pending: who needs no more of this rank goes on
};

// The first page. Written by its owner alone, but for the events.
struct Board {
  alignas(kLine) std::atomic<std::uint32_t> published{0};  // steps whose slots are filled; counts on, modulo 2^32
  std::atomic<std::uint32_t> condition{0};
  alignas(kLine) EventCount step_event;
  alignas(kLine) char reason[448]{};                      // text, when the condition is kFailed
  alignas(kLine) std::atomic<std::uint64_t> sequence{0};  // of the collective that runs, or ran last
  std::atomic<std::uint32_t> collective{0};
  SlotLabel labels[kSlots];
  alignas(kLine) EventCount message_event;
};
static_assert(sizeof(Board) <= kPage);

// Messages from one rank to another go through a pipe of their own in the sender's memory, in parts that take turns.
constexpr std::uint32_t kPipeParts = 8;
constexpr std::size_t kPartBytes = std::size_t{32} << 10;

enum class PartKind : std::uint32_t {
  kShort,      // a whole message
  kAnnounced,  // that there is a message, too long for one part: it is sent once it is wanted
  kPiece,      // of the one that is wanted
};

struct alignas(kLine) PartLabel {
  std::uint64_t message = 0;  // counts the messages of a pipe, from 1
  std::uint64_t message_bytes = 0;
  PartKind kind = PartKind::kShort;
  std::int32_t tag = 0;
  std::uint32_t bytes = 0;  // in this part
};
static_assert(sizeof(PartLabel) == kLine);

struct Pipe {
  alignas(kLine) std::atomic<std::uint32_t> filled{0};  // parts, modulo 2^32; the sender's
  PartLabel labels[kPipeParts];
  // The receiver's.
  alignas(kLine) std::atomic<std::uint32_t> taken{0};  // parts, modulo 2^32
  std::atomic<std::uint64_t> wanted{0};                // the announced message that is to be sent now, or was last
  std::atomic<std::uint64_t> received{0};              // bytes of short messages that found who receives them
  std::atomic<std::uint64_t> matched{0};               // messages, long ones too, that did
};
static_assert(sizeof(Pipe) <= kPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "an atomic with a lock cannot lie in shared memory");

constexpr std::size_t kPipesBegin = kPage + kSlots * kSlotBytes;
constexpr std::size_t kPipeBytes = kPage + kPipeParts * kPartBytes;

// For tensors that the others read and write in place. Only addresses, until something lies there.
constexpr std::size_t kHeapBytes = std::size_t{8} << 30;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

constexpr std::size_t heap_begin(std::size_t ranks) {
  return (kPipesBegin + ranks * kPipeBytes + kHugePage - 1) / kHugePage * kHugePage;
}

// A rank's segment: its board, its slots, its pipes to each rank, and its heap. Pages are taken when they are first
// used.
constexpr std::size_t segment_bytes(std::size_t ranks) {
  return heap_begin(ranks) + kHeapBytes;
}

}  // namespace tandem::shm
