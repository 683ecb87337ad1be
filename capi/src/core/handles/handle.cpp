#include "core/handles/handle.h"

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "core/call/guard.h"
#include "core/handles/handles.h"
#include "memory/fork_locks.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tandem::capi {
namespace {

#if defined(__SANITIZE_ADDRESS__)
void forbid(void* begin, std::size_t bytes) {
  __asan_poison_memory_region(begin, bytes);
}
void allow(void* begin, std::size_t bytes) {
  __asan_unpoison_memory_region(begin, bytes);
}
#else
void forbid(void*, std::size_t) {}
void allow(void*, std::size_t) {}
#endif

constexpr std::size_t kGrain = 64;   // block sizes are multiples of it
constexpr std::size_t kRests = 256;  // blocks of a size that wait, freed, before the oldest is used again

// What a freed block holds; a list of them needs no memory of its own.
struct FreedBlock {
  explicit FreedBlock(std::uint32_t tag) : tag(tag) {}
  HandleTag tag;
  FreedBlock* next = nullptr;  // freed after it
};
static_assert(sizeof(FreedBlock) <= kGrain);

// Blocks of one size, the oldest first.
struct Freed {
  FreedBlock* oldest = nullptr;
  FreedBlock* newest = nullptr;
  std::size_t count = 0;
};

struct Memory {
  std::mutex mutex;
  std::map<std::size_t, Freed> freed;  // by size of block
};

Memory& memory() {
  static auto* instance = [] {
    auto* made = new Memory;  // handles may outlive static destructors
    hold_in_fork(ForkLock::handle_memory, made->mutex);
    return made;
  }();
  return *instance;
}

// Made when the library is loaded: a fork beside the first use would leave the child in the middle of it.
[[maybe_unused]] const Memory& memory_at_load = memory();

std::size_t block_size(std::size_t bytes) {
  return (bytes + kGrain - 1) / kGrain * kGrain;
}

std::string name_of(int type) {
  return type == kOperatorHandle ? "operator" : kind_name(static_cast<Kind>(type));
}

// "an optimizer", "a module".
std::string with_article(const std::string& name) {
  return (std::strchr("aeio", name[0]) ? "an " : "a ") + name;
}

}  // namespace

void* take_handle_memory(std::size_t bytes) {
  const std::size_t size = block_size(bytes);
  {
    const std::lock_guard<std::mutex> lock(memory().mutex);
    Freed& freed = memory().freed[size];
    if (freed.count > kRests) {
      FreedBlock* oldest = freed.oldest;
      freed.oldest = oldest->next;
      --freed.count;
      allow(oldest, size);
      return oldest;
    }
  }
  return ::operator new(size);
}

void give_handle_memory(void* block, std::size_t bytes, std::uint32_t tag) noexcept {
  auto* given = new (block) FreedBlock(tag);
  forbid(given + 1, block_size(bytes) - sizeof(FreedBlock));
  const std::lock_guard<std::mutex> lock(memory().mutex);
  Freed& freed = memory().freed.find(block_size(bytes))->second;  // made when the block was taken
  (freed.count == 0 ? freed.oldest : freed.newest->next) = given;
  freed.newest = given;
  ++freed.count;
}

void refuse_wrong_handle(const void* handle, int type, const std::string& argument) {
  if (!handle) invalid(argument + " is NULL");
  const std::uint32_t tag = static_cast<const HandleTag*>(address_of(handle))->get();
  const auto of_tensor = [&](HandleState state) { return tag == handle_tag(Kind::kTensor, state); };
  const bool is_tensor =
      of_tensor(HandleState::kLive) || of_tensor(HandleState::kKept) || of_tensor(HandleState::kMoving);
  if (of_tensor(HandleState::kFreed) || of_tensor(HandleState::kLeft) || of_tensor(HandleState::kLeaving) ||
      (is_tensor && !live_slot(static_cast<const tdm_tensor*>(handle)))) {
    throw Error(ErrorCode::kClosed, argument +
                                        " is a tensor handle that was freed, by tdm_tensor_free() or at the end of its "
                                        "scope" +
                                        (is_tensor ? ", and what it was made of is in use for another tensor" : "") +
                                        "; keep it with tdm_scope_keep() to use it afterwards");
  }
  for (int other = 0; other <= kOperatorHandle; ++other) {
    const std::string name = name_of(other);
    if (tag == handle_tag(other, HandleState::kLive) || (is_tensor && other == static_cast<int>(Kind::kTensor))) {
      if (other != type)
        invalid(argument + " is " + with_article(name) + " handle; it takes " + with_article(name_of(type)));
    } else if (tag == handle_tag(other, HandleState::kFreed)) {
      throw Error(ErrorCode::kClosed, argument + " is " + with_article(name) + " handle that was freed");
    }
  }
  invalid(argument + " is no handle of Tandem's; it takes " + with_article(name_of(type)));
}

}  // namespace tandem::capi
