#include "weights/pickle/unpickler.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "weights/pickle/machine.h"
#include "weights/pickle/opcodes.h"
#include "weights/pickle/rebuild.h"
#include "weights/pickle/utf8.h"

namespace tandem::pickle {
namespace {

class Unpickler {
 public:
  Unpickler(Input& input, const Limits& limits) : input_(input), machine_(input, limits), limits_(limits) {}

  Pickle run() {
    if (input_.left() < 2 || static_cast<Opcode>(input_.u8()) != Opcode::kProto) {
      input_.fail("no pickle of protocol 2 or later");
    }
    const unsigned protocol = input_.u8();
    if (protocol < 2 || protocol > 5) {
      input_.fail("a pickle of protocol " + std::to_string(protocol) + "; 2 to 5 are read", ErrorCode::kUnsupported);
    }
    for (;;) {
      input_.mark_opcode();
      const auto opcode = static_cast<Opcode>(input_.u8());
      if (opcode == Opcode::kStop) break;
      step(opcode);
    }
    machine_.pickle.root = machine_.pop();
    if (!machine_.is_empty()) input_.fail("an end before its values are put together: it is damaged");
    values_ = 0;
    count_values(machine_.pickle.root, 0);
    machine_.pickle.bytes = input_.place();
    return std::move(machine_.pickle);
  }

 private:
  void step(Opcode opcode) {
    switch (opcode) {
      case Opcode::kProto:
        input_.fail("a second beginning: it is damaged");
      case Opcode::kStop:
        return;
      case Opcode::kFrame:
        if (input_.u64() > input_.left()) input_.fail("a frame longer than what is left: it is cut off");
        return;

      case Opcode::kNone:
        return machine_.push(kNoneRef);
      case Opcode::kNewTrue:
        return machine_.push(kTrueRef);
      case Opcode::kNewFalse:
        return machine_.push(kFalseRef);
      case Opcode::kBinInt:
        return push_integer(static_cast<std::int32_t>(input_.u32()));
      case Opcode::kBinInt1:
        return push_integer(input_.u8());
      case Opcode::kBinInt2:
        return push_integer(input_.u16());
      case Opcode::kLong1:
        return push_long(input_.u8());
      case Opcode::kLong4:
        return push_long(input_.u32());
      case Opcode::kBinFloat: {
        Object object = of_kind(Kind::kReal);
        object.real = std::bit_cast<double>(__builtin_bswap64(input_.u64()));
        return machine_.push(machine_.add(std::move(object)));
      }

      case Opcode::kShortBinUnicode:
        return push_text(input_.u8());
      case Opcode::kBinUnicode:
        return push_text(input_.u32());
      case Opcode::kBinUnicode8:
        return push_text(input_.u64());
      case Opcode::kShortBinString:
        return push_old_text(input_.u8());
      case Opcode::kBinString:
        return push_old_text(input_.u32());
      case Opcode::kShortBinBytes:
        return push_bytes(input_.u8());
      case Opcode::kBinBytes:
        return push_bytes(input_.u32());
      case Opcode::kBinBytes8:
      case Opcode::kByteArray8:
        return push_bytes(input_.u64());

      case Opcode::kEmptyList:
        return push_new(Kind::kList);
      case Opcode::kEmptyTuple:
        return push_new(Kind::kTuple);
      case Opcode::kEmptyDict:
        return push_new(Kind::kDict);
      case Opcode::kEmptySet:
        return push_new(Kind::kSet);
      case Opcode::kMark:
        return machine_.mark();
      case Opcode::kTuple:
        return push_tuple(machine_.pop_to_mark());
      case Opcode::kTuple1:
        return push_tuple(pop(1));
      case Opcode::kTuple2:
        return push_tuple(pop(2));
      case Opcode::kTuple3:
        return push_tuple(pop(3));
      case Opcode::kAppend:
        return extend(Kind::kList, pop(1));
      case Opcode::kAppends:
        return extend(Kind::kList, machine_.pop_to_mark());
      case Opcode::kAddItems:
        return extend(Kind::kSet, machine_.pop_to_mark());
      case Opcode::kSetItem:
        return set_items(pop(2));
      case Opcode::kSetItems:
        return set_items(machine_.pop_to_mark());

      case Opcode::kPop:
        machine_.pop();
        return;
      case Opcode::kPopMark:
        machine_.pop_to_mark();
        return;
      case Opcode::kDup:
        return machine_.push(machine_.top());
      case Opcode::kBinPut:
        return machine_.remember(input_.u8());
      case Opcode::kLongBinPut:
        return machine_.remember(input_.u32());
      case Opcode::kMemoize:
        return machine_.remember_next();
      case Opcode::kBinGet:
        return machine_.push(machine_.recall(input_.u8()));
      case Opcode::kLongBinGet:
        return machine_.push(machine_.recall(input_.u32()));

      case Opcode::kGlobal: {
        const std::string_view module = input_.line();
        return push_global(module, input_.line());
      }
      case Opcode::kStackGlobal: {
        const std::vector<Ref> both = pop(2);
        for (const Ref ref : both) {
          if (machine_.object(ref).kind != Kind::kString) input_.fail("a name that is no string: it is damaged");
        }
        return push_global(machine_.object(both[0]).text, machine_.object(both[1]).text);
      }
      case Opcode::kReduce:
      case Opcode::kNewObj: {
        const Ref arguments = machine_.pop(), callable = machine_.pop();
        return machine_.push(call(machine_, callable, arguments));
      }
      case Opcode::kBuild: {
        const Ref state = machine_.pop();
        return build(machine_, machine_.top(), state);
      }
      case Opcode::kBinPersId:
        return machine_.push(persistent(machine_, machine_.pop()));
    }
    input_.fail("opcode " + std::to_string(static_cast<int>(opcode)) +
                ", which torch.save does not write: it is damaged, or made by another program");
  }

  static Object of_kind(Kind kind) {
    Object object;
    object.kind = kind;
    return object;
  }

  // In the order in which they were pushed.
  std::vector<Ref> pop(std::size_t count) {
    std::vector<Ref> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = machine_.pop();
    return items;
  }

  void push_new(Kind kind) { machine_.push(machine_.add(of_kind(kind))); }

  void push_text(Kind kind, std::string_view text) {
    Object object = of_kind(kind);
    object.text = text;
    machine_.push(machine_.add(std::move(object)));
  }

  void push_text(std::uint64_t size) {
    const std::string_view text = input_.take(size, "a string");
    if (!is_utf8(text)) input_.fail("a string that is not UTF-8: it is damaged");
    push_text(Kind::kString, text);
  }

  // A string of Python 2 may be either.
  void push_old_text(std::uint64_t size) {
    const std::string_view text = input_.take(size, "a string");
    push_text(is_utf8(text) ? Kind::kString : Kind::kBytes, text);
  }

  void push_bytes(std::uint64_t size) { push_text(Kind::kBytes, input_.take(size, "a string of bytes")); }

  void push_integer(std::int64_t value) { machine_.push(machine_.add_integer(value)); }

  void push_long(std::uint64_t size) {
    constexpr std::uint64_t kLongest = 255;
    if (size > kLongest) input_.fail("an integer of " + std::to_string(size) + " bytes", ErrorCode::kUnsupported);
    const std::string_view text = input_.take(size, "an integer");
    if (size > sizeof(std::int64_t)) return push_text(Kind::kLongInteger, text);
    std::uint64_t value = !text.empty() && text.back() < 0 ? ~std::uint64_t{0} : 0;
    std::memcpy(&value, text.data(), text.size());
    push_integer(static_cast<std::int64_t>(value));
  }

  void push_tuple(std::vector<Ref> items) {
    Object object = of_kind(Kind::kTuple);
    object.items = std::move(items);
    machine_.push(machine_.add(std::move(object)));
  }

  void push_global(std::string_view module, std::string_view name) {
    const auto global = find_global(module, name, limits_.dialect);
    if (!global) {
      const std::string full = std::string(module.substr(0, 200)) + "." + std::string(name.substr(0, 200));
      input_.fail("the global " + (is_utf8(full) ? full : "'?'") +
                      (limits_.dialect == Dialect::kTorchScript
                           ? ", which is not among those that a module of TorchScript needs, so the file is refused"
                           : ", which is not among those that weights need, so the file is refused: Python would run "
                             "it. Save a state_dict, which holds tensors and plain values alone"),
                  ErrorCode::kUnsupported);
    }
    Object object = of_kind(Kind::kGlobal);
    object.global = *global;
    machine_.push(machine_.add(std::move(object)));
  }

  void extend(Kind kind, const std::vector<Ref>& items) {
    Object& target = machine_.object(machine_.top());
    if (target.kind != kind) input_.fail("values for what is no list or set: it is damaged");
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<Ref>& items) {
    Object& target = machine_.object(machine_.top());
    if ((target.kind != Kind::kDict && target.kind != Kind::kOrderedDict) || items.size() % 2 != 0) {
      input_.fail("keys and values for what is no dict: it is damaged");
    }
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  // Calls itself as deep as is allowed; `depth` also ends what contains itself.
  void count_values(Ref ref, int depth) {
    const Object& object = machine_.object(ref);
    values_ += 1 + object.text.size() / kTextPerValue + (object.kind == Kind::kTensor ? kValuesOfTensor : 0);
    if (values_ > limits_.most_values) {
      input_.fail("more than " + std::to_string(limits_.most_values) +
                      " values before it, those in several places counted in each; raise most_values only for a file "
                      "that you know",
                  ErrorCode::kUnsupported);
    }
    if (object.items.empty() && object.attributes == kNoneRef) return;
    if (depth == limits_.deepest) {
      input_.fail("values nested more than " + std::to_string(limits_.deepest) + " deep, or within themselves",
                  ErrorCode::kUnsupported);
    }
    for (const Ref item : object.items) count_values(item, depth + 1);
    if (object.attributes != kNoneRef) count_values(object.attributes, depth + 1);
  }

  Input& input_;
  Machine machine_;
  const Limits limits_;
  std::uint64_t values_ = 0;
};

}  // namespace

Pickle unpickle(std::string_view bytes, const std::string& name, std::uint64_t begin, const Limits& limits) {
  Input input(bytes, name, begin);
  return Unpickler(input, limits).run();
}

}  // namespace tandem::pickle
