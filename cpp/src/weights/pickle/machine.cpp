#include "weights/pickle/machine.h"

#include <utility>

namespace tandem::pickle {

Machine::Machine(Input& input, const Limits& limits)
    : input(input), dialect(limits.dialect), most_(limits.most_values) {
  pickle.objects.resize(3);
  pickle.objects[kFalseRef].kind = pickle.objects[kTrueRef].kind = Kind::kBool;
  pickle.objects[kTrueRef].integer = 1;
}

Ref Machine::add(Object object) {
  charge(1);
  pickle.objects.push_back(std::move(object));
  return static_cast<Ref>(pickle.objects.size() - 1);
}

Ref Machine::add_integer(std::int64_t value) {
  Object object;
  object.kind = Kind::kInteger;
  object.integer = value;
  return add(std::move(object));
}

void Machine::charge(std::size_t items) {
  charged_ += items;
  if (charged_ > most_) {
    input.fail("more than " + std::to_string(most_) +
                   " values before it; weights have fewer, so raise most_values only for a file that you know",
               ErrorCode::kUnsupported);
  }
}

Ref Machine::pop() {
  const Ref ref = top();
  stack_.pop_back();
  return ref;
}

Ref Machine::top() {
  if (stack_.size() == bottom()) input.fail("an opcode that wants more values than there are: it is damaged");
  return stack_.back();
}

std::vector<Ref> Machine::pop_to_mark() {
  if (marks_.empty()) input.fail("an opcode that wants a mark where there is none: it is damaged");
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<Ref> items(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return items;
}

// LibTorch's memo is a row, as long as its largest number.
void Machine::remember(std::uint64_t number) {
  if (dialect == Dialect::kTorchScript && number > memo_.size()) {
    input.fail("number " + std::to_string(number) + " of the memo before those below it: it is damaged");
  }
  memo_[number] = top();
}

Ref Machine::recall(std::uint64_t number) const {
  const auto found = memo_.find(number);
  if (found == memo_.end())
    input.fail("number " + std::to_string(number) + " of the memo, which has none: it is damaged");
  return found->second;
}

const std::vector<Ref>* Machine::natural_tuple(Ref ref) const {
  const Object& tuple = object(ref);
  if (tuple.kind != Kind::kTuple || tuple.items.size() > kMostDimensions) return nullptr;
  for (const Ref item : tuple.items) {
    if (object(item).kind != Kind::kInteger || object(item).integer < 0) return nullptr;
  }
  return &tuple.items;
}

}  // namespace tandem::pickle
