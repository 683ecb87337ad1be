// A pickle under way: its stack, memo and objects, bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "weights/pickle/input.h"
#include "weights/pickle/objects.h"
#include "weights/pickle/unpickler.h"

namespace tandem::pickle {

// What text and tensors count for as values, so that a limit of values is one of memory.
inline constexpr std::size_t kTextPerValue = 256, kValuesOfTensor = 7, kMostDimensions = 64;

class Machine {
 public:
  Machine(Input& input, const Limits& limits);

  Ref add(Object object);
  Ref add_integer(std::int64_t value);
  const Object& object(Ref ref) const { return pickle.objects[ref]; }
  Object& object(Ref ref) { return pickle.objects[ref]; }
  // Of items that an object takes over from another: what is copied costs memory without costing bytes of input.
  void charge(std::size_t items);

  void push(Ref ref) { stack_.push_back(ref); }
  Ref pop();
  Ref top();
  bool is_empty() const { return stack_.empty() && marks_.empty(); }
  void mark() { marks_.push_back(stack_.size()); }
  std::vector<Ref> pop_to_mark();

  void remember(std::uint64_t number);
  void remember_next() { remember(memo_.size()); }
  Ref recall(std::uint64_t number) const;

  // Of integers, each at least 0, and at most 64 as LibTorch has dimensions, as sizes and strides are; null where it is
  // none.
  const std::vector<Ref>* natural_tuple(Ref ref) const;

  // Whether it is the first to be named `key`.
  bool is_new_storage(std::string_view key) { return storage_keys_.insert(key).second; }

  Input& input;
  const Dialect dialect;
  Pickle pickle;

 private:
  std::size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }

  const std::uint64_t most_;
  std::uint64_t charged_ = 0;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Ref> memo_;
  std::unordered_set<std::string_view> storage_keys_;
};

}  // namespace tandem::pickle
