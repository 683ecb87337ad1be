#include "weights/pickle/rebuild.h"

#include <cctype>
#include <climits>
#include <span>
#include <utility>

#include "weights/pickle/utf8.h"

namespace tandem::pickle {
namespace {

// The arguments of a call, by number.
class Arguments {
 public:
  Arguments(Machine& machine, Ref tuple, const char* callable) : machine_(machine), callable_(callable) {
    if (machine.object(tuple).kind != Kind::kTuple) fail("are no tuple");
    items_ = machine.object(tuple).items;
  }

  std::size_t count() const { return items_.size(); }
  Ref operator[](std::size_t i) const { return items_[i]; }
  const Object& object(std::size_t i) const { return machine_.object(items_[i]); }
  bool is(std::size_t i, Kind kind) const { return i < count() && object(i).kind == kind; }
  void want(bool good) const {
    if (!good) fail("are not as torch.save writes them: it is damaged, or of another version of PyTorch");
  }
  [[noreturn]] void fail(const std::string& what) const {
    machine_.input.fail(std::string(callable_) + ", whose arguments " + what);
  }

 private:
  Machine& machine_;
  const char* const callable_;
  std::span<const Ref> items_;  // of a tuple, which never changes
};

Ref add_kind(Machine& machine, Kind kind, std::string_view text = {}) {
  Object object;
  object.kind = kind;
  object.text = text;
  return machine.add(std::move(object));
}

// The values of a list or tuple, taken over.
std::vector<Ref> copy_items(Machine& machine, Ref from) {
  machine.charge(machine.object(from).items.size());
  return machine.object(from).items;
}

bool is_sequence(const Object& object) {
  return object.kind == Kind::kList || object.kind == Kind::kTuple;
}

Ref ordered_dict(Machine& machine, const Arguments& arguments) {
  const Ref made = add_kind(machine, Kind::kOrderedDict);
  if (arguments.count() == 0) return made;
  // Python 2 gives its pairs at once.
  arguments.want(arguments.count() == 1 && is_sequence(arguments.object(0)));
  std::vector<Ref> items;
  for (const Ref pair : machine.object(arguments[0]).items) {
    const Object& both = machine.object(pair);
    arguments.want(is_sequence(both) && both.items.size() == 2);
    machine.charge(2);
    items.insert(items.end(), both.items.begin(), both.items.end());
  }
  machine.object(made).items = std::move(items);
  return made;
}

Ref encode(Machine& machine, const Arguments& arguments) {
  arguments.want(arguments.count() == 2 && arguments.is(0, Kind::kString) && arguments.is(1, Kind::kString));
  const std::string_view encoding = arguments.object(1).text;
  machine.charge(arguments.object(0).text.size() / kTextPerValue);
  arguments.want((encoding == "latin1" || encoding == "latin-1") && latin1_of(arguments.object(0).text, nullptr));
  return add_kind(machine, Kind::kLatin1, arguments.object(0).text);
}

Ref byte_array(Machine& machine, const Arguments& arguments) {
  if (arguments.count() == 0) return add_kind(machine, Kind::kBytes);
  if (arguments.count() == 2) return encode(machine, arguments);
  arguments.want(arguments.count() == 1 && (arguments.is(0, Kind::kBytes) || arguments.is(0, Kind::kLatin1)));
  return add_kind(machine, arguments.object(0).kind, arguments.object(0).text);
}

Ref complex(Machine& machine, const Arguments& arguments) {
  arguments.want(arguments.count() == 2 && arguments.is(0, Kind::kReal) && arguments.is(1, Kind::kReal));
  Object object;
  object.kind = Kind::kComplex;
  object.real = arguments.object(0).real;
  object.imaginary = arguments.object(1).real;
  return machine.add(std::move(object));
}

Ref device(Machine& machine, const Arguments& arguments) {
  arguments.want((arguments.count() == 1 || arguments.count() == 2) && arguments.is(0, Kind::kString));
  const Ref made = add_kind(machine, Kind::kDevice, arguments.object(0).text);
  machine.object(made).integer = -1;
  if (arguments.count() == 2) {
    arguments.want(arguments.is(1, Kind::kInteger) && arguments.object(1).integer >= 0 &&
                   arguments.object(1).integer <= SCHAR_MAX);
    machine.object(made).integer = arguments.object(1).integer;
  }
  return made;
}

// Whether the elements that it names lie in its storage. `sizes` and `strides` are natural numbers, equally many.
bool lies_in_storage(const Machine& machine, const TensorRef& tensor, const std::vector<Ref>& sizes,
                     const std::vector<Ref>& strides) {
  const std::uint64_t element = facts_of(tensor.dtype).bytes;
  std::uint64_t elements = 1, last = static_cast<std::uint64_t>(tensor.offset);
  bool empty = false, fits = true;
  for (const Ref size : sizes) empty = empty || machine.object(size).integer == 0;
  for (std::size_t i = 0; i < sizes.size() && fits; ++i) {
    const auto size = static_cast<std::uint64_t>(machine.object(sizes[i]).integer);
    const auto stride = static_cast<std::uint64_t>(machine.object(strides[i]).integer);
    std::uint64_t reach = 0;
    // LibTorch computes with the products of the sizes that are not 0, also where others are.
    fits = !__builtin_mul_overflow(elements, size > 0 ? size : 1, &elements);
    if (!empty)
      fits = fits && !__builtin_mul_overflow(size - 1, stride, &reach) && !__builtin_add_overflow(last, reach, &last);
  }
  std::uint64_t bytes = 0;
  fits = fits && !__builtin_mul_overflow(elements, element, &bytes) && bytes <= INT64_MAX;
  fits = fits && !__builtin_add_overflow(last, empty ? 0 : 1, &last) && !__builtin_mul_overflow(last, element, &bytes);
  return fits && bytes <= (empty ? INT64_MAX : machine.pickle.storages[tensor.storage].bytes());
}

// Python's set_tensor_metadata.
void set_bits(const Machine& machine, TensorRef& tensor, const Arguments& arguments, std::size_t i) {
  if (i >= arguments.count() || arguments.is(i, Kind::kNone)) return;
  arguments.want(arguments.is(i, Kind::kDict) || arguments.is(i, Kind::kOrderedDict));
  const std::vector<Ref>& items = arguments.object(i).items;
  arguments.want(items.size() <= 4);
  for (std::size_t at = 0; at + 1 < items.size(); at += 2) {
    const Object& value = machine.object(items[at + 1]);
    const std::string_view key = machine.object(items[at]).text;
    arguments.want(value.kind == Kind::kBool && (key == "conj" || key == "neg"));
    (key == "conj" ? tensor.conjugate : tensor.negative) = value.integer != 0;
  }
}

Ref tensor(Machine& machine, Name name, const Arguments& arguments) {
  const bool v3 = name == Name::kRebuildTensorV3, v1 = name == Name::kRebuildTensor;
  const std::size_t least = v1 ? 4 : v3 ? 7 : 6;
  arguments.want(arguments.count() >= least && arguments.count() <= least + (v1 ? 0 : 1));
  arguments.want(arguments.is(0, Kind::kStorage) && arguments.is(1, Kind::kInteger) &&
                 arguments.object(1).integer >= 0);
  const std::vector<Ref>* const sizes = machine.natural_tuple(arguments[2]);
  const std::vector<Ref>* const strides = machine.natural_tuple(arguments[3]);
  if (!sizes || !strides || sizes->size() != strides->size()) {
    arguments.fail("have sizes and strides that are not equally many natural numbers, 64 at most");
  }
  TensorRef made{};
  made.storage = static_cast<std::uint32_t>(arguments.object(0).integer);
  made.dtype = machine.pickle.storages[made.storage].dtype;
  made.offset = arguments.object(1).integer;
  made.sizes = arguments[2];
  made.strides = arguments[3];
  if (!v1) {
    arguments.want(arguments.is(4, Kind::kBool));
    made.requires_grad = arguments.object(4).integer != 0;
  }
  if (v3) {
    arguments.want(arguments.is(6, Kind::kGlobal) && arguments.object(6).global.name == Name::kDtype);
    made.dtype = arguments.object(6).global.dtype;
  }
  set_bits(machine, made, arguments, least);
  if (!lies_in_storage(machine, made, *sizes, *strides)) {
    arguments.fail("name elements that are not in its storage of " +
                   std::to_string(machine.pickle.storages[made.storage].bytes()) + " bytes");
  }
  Object object;
  object.kind = Kind::kTensor;
  object.integer = static_cast<std::int64_t>(machine.pickle.tensors.size());
  machine.pickle.tensors.push_back(made);
  return machine.add(std::move(object));
}

Ref parameter(Machine& machine, Name name, const Arguments& arguments) {
  arguments.want(arguments.count() == (name == Name::kRebuildParameter ? 3 : 4));
  arguments.want(arguments.is(0, Kind::kTensor) && arguments.is(1, Kind::kBool));
  TensorRef made = machine.pickle.tensors[static_cast<std::size_t>(arguments.object(0).integer)];
  made.is_parameter = true;
  made.requires_grad = arguments.object(1).integer != 0;
  Object object;
  object.kind = Kind::kTensor;
  object.integer = static_cast<std::int64_t>(machine.pickle.tensors.size());
  machine.pickle.tensors.push_back(made);
  return machine.add(std::move(object));
}

bool names_tensor_class(const Object& object) {
  return object.kind == Kind::kGlobal &&
         (object.global.name == Name::kTensor || object.global.name == Name::kParameter);
}

Ref tensor_with_attributes(Machine& machine, const Arguments& arguments) {
  arguments.want(arguments.count() == 4 && arguments.is(0, Kind::kGlobal) && names_tensor_class(arguments.object(1)));
  const Name name = arguments.object(0).global.name;
  switch (name) {
    case Name::kRebuildTensor:
    case Name::kRebuildTensorV2:
    case Name::kRebuildTensorV3: {
      const Ref made = tensor(machine, name, Arguments(machine, arguments[2], "_rebuild_from_type_v2"));
      const bool is_parameter = arguments.object(1).global.name == Name::kParameter;
      machine.pickle.tensors.back().is_parameter = is_parameter;
      return made;
    }
    default:
      arguments.fail("name what makes no tensor");
  }
}

// Names and brackets, few within each other: LibTorch parses it as any expression, by calling itself.
bool is_type_name(std::string_view type) {
  constexpr std::size_t kLongest = 4096;
  constexpr int kDeepest = 64;
  int depth = 0;
  for (const char c : type) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && std::string_view("_., []").find(c) == std::string_view::npos) {
      return false;
    }
    if (c == '[' && ++depth > kDeepest) return false;
    if (c == ']') --depth;
  }
  return type.size() <= kLongest;
}

// The list or dict that is to be of a type, where LibTorch restores the types of values.
Ref typed(Name name, const Arguments& arguments) {
  if (name == Name::kTypedList) {
    arguments.want(arguments.count() == 1 && arguments.is(0, Kind::kList));
  } else {
    arguments.want(arguments.count() == 2 && (arguments.is(0, Kind::kList) || arguments.is(0, Kind::kDict)) &&
                   arguments.is(1, Kind::kString) && is_type_name(arguments.object(1).text));
  }
  return arguments[0];
}

}  // namespace

Ref call(Machine& machine, Ref callable, Ref tuple) {
  if (machine.object(callable).kind != Kind::kGlobal) {
    machine.input.fail("a call of what is no function or class: it is damaged, or made to do harm");
  }
  const Name name = machine.object(callable).global.name;
  switch (name) {
    case Name::kOrderedDict:
      return ordered_dict(machine, Arguments(machine, tuple, "OrderedDict"));
    case Name::kCounter: {  // MultiStepLR keeps its milestones in one
      const Arguments arguments(machine, tuple, "Counter");
      arguments.want(arguments.count() == 1 && arguments.is(0, Kind::kDict));
      const Ref made = add_kind(machine, Kind::kDict);
      machine.object(made).items = copy_items(machine, arguments[0]);
      return made;
    }
    case Name::kSet: {
      const Arguments arguments(machine, tuple, "set");
      arguments.want(arguments.count() == 0 || (arguments.count() == 1 && is_sequence(arguments.object(0))));
      const Ref made = add_kind(machine, Kind::kSet);
      if (arguments.count() == 1) machine.object(made).items = copy_items(machine, arguments[0]);
      return made;
    }
    case Name::kByteArray:
      return byte_array(machine, Arguments(machine, tuple, "bytearray"));
    case Name::kComplex:
      return complex(machine, Arguments(machine, tuple, "complex"));
    case Name::kEncode:
      return encode(machine, Arguments(machine, tuple, "_codecs.encode"));
    case Name::kSize: {
      const Arguments arguments(machine, tuple, "torch.Size");
      arguments.want(arguments.count() == 1 && machine.natural_tuple(arguments[0]));
      return arguments[0];
    }
    case Name::kDevice:
      return device(machine, Arguments(machine, tuple, "torch.device"));
    case Name::kRebuildTensor:
      return tensor(machine, name, Arguments(machine, tuple, "_rebuild_tensor"));
    case Name::kRebuildTensorV2:
      return tensor(machine, name, Arguments(machine, tuple, "_rebuild_tensor_v2"));
    case Name::kRebuildTensorV3:
      return tensor(machine, name, Arguments(machine, tuple, "_rebuild_tensor_v3"));
    case Name::kRebuildParameter:
      return parameter(machine, name, Arguments(machine, tuple, "_rebuild_parameter"));
    case Name::kRebuildParameterWithState:
      return parameter(machine, name, Arguments(machine, tuple, "_rebuild_parameter_with_state"));
    case Name::kRebuildFromType:
      return tensor_with_attributes(machine, Arguments(machine, tuple, "_rebuild_from_type_v2"));
    case Name::kTypedList:
      return typed(name, Arguments(machine, tuple, "torch.jit._pickle.build_list"));
    case Name::kRestoreTypeTag:
      return typed(name, Arguments(machine, tuple, "torch.jit._pickle.restore_type_tag"));
    case Name::kScriptClass:  // an object, whose state follows, or a member of an enumeration
      return add_kind(machine, Kind::kObject);
    case Name::kTensor:
    case Name::kParameter:
    case Name::kStorage:
    case Name::kUntypedStorage:
    case Name::kDtype:
      break;
  }
  machine.input.fail("a call of a class or dtype of torch that torch.save does not write", ErrorCode::kUnsupported);
}

void build(Machine& machine, Ref target, Ref state) {
  Object& object = machine.object(target);
  const Kind kind = machine.object(state).kind;
  if (object.kind == Kind::kObject) {
    object.attributes = state;
    return;
  }
  if (object.kind != Kind::kOrderedDict || (kind != Kind::kDict && kind != Kind::kOrderedDict)) {
    machine.input.fail("attributes for what may have none: only OrderedDict does", ErrorCode::kUnsupported);
  }
  object.attributes = state;
}

Ref persistent(Machine& machine, Ref id) {
  const Arguments arguments(machine, id, "a persistent id");
  const auto text = [&](std::size_t i) { return arguments.object(i).text; };
  const auto has_text = [&](std::size_t i) { return arguments.is(i, Kind::kString); };
  if (!has_text(0) || text(0) != "storage") {
    machine.input.fail("a persistent id that is no storage; save the state_dict, not the module",
                       ErrorCode::kUnsupported);
  }
  arguments.want((arguments.count() == 5 || arguments.count() == 6) && arguments.is(1, Kind::kGlobal) && has_text(2) &&
                 has_text(3) && arguments.is(4, Kind::kInteger));
  if (arguments.count() == 6 && !arguments.is(5, Kind::kNone)) {
    machine.input.fail("a view of a storage, as PyTorch wrote them before 0.4; load it there and save it again",
                       ErrorCode::kUnsupported);
  }
  const Global global = arguments.object(1).global;
  arguments.want(global.name == Name::kStorage || global.name == Name::kUntypedStorage);
  if (text(3) == "meta") {
    machine.input.fail("a tensor of the device meta, which has no elements", ErrorCode::kUnsupported);
  }
  const std::int64_t elements = arguments.object(4).integer;
  std::int64_t bytes = 0;
  arguments.want(elements >= 0 &&
                 !__builtin_mul_overflow(elements, std::int64_t{facts_of(global.dtype).bytes}, &bytes));
  // LibTorch would read it anew each time.
  if (machine.dialect == Dialect::kTorchScript && !machine.is_new_storage(text(2))) {
    machine.input.fail("the storage '" + std::string(text(2).substr(0, 100)) + "' a second time: it is damaged");
  }
  Object object;
  object.kind = Kind::kStorage;
  object.integer = static_cast<std::int64_t>(machine.pickle.storages.size());
  machine.pickle.storages.push_back({text(2), global.dtype, static_cast<std::uint64_t>(elements)});
  return machine.add(std::move(object));
}

}  // namespace tandem::pickle
