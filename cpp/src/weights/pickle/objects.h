// What a pickle holds, as it is read: objects that refer to each other by number.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "weights/pickle/globals.h"

namespace tandem::pickle {

using Ref = std::uint32_t;  // of Pickle::objects

enum class Kind : std::uint8_t {
  kNone,
  kBool,
  kInteger,
  kLongInteger,  // more than 64 bits: `text`, little-endian
  kReal,
  kComplex,
  kString,
  kBytes,
  kLatin1,  // bytes as protocol 2 writes them: each is a character of `text`, which is UTF-8
  kList,
  kTuple,
  kSet,
  kDict,
  kOrderedDict,
  kDevice,  // `text` and `integer`, -1 for none
  kGlobal,
  kStorage,  // `integer` of Pickle::storages
  kTensor,   // `integer` of Pickle::tensors
  kObject,   // of a class of TorchScript
};

struct Object {
  Kind kind = Kind::kNone;
  Global global{Name::kSet};
  std::int64_t integer = 0;
  double real = 0, imaginary = 0;
  std::string_view text;   // in the bytes that were read
  std::vector<Ref> items;  // of a dict keys and values in turn
  Ref attributes = 0;      // of an ordered dict a dict, of an object its state, or 0: None
};

// A storage as a tensor refers to it. Several may have the same key: those are one.
struct StorageRef {
  std::string_view key;
  Dtype dtype;
  std::uint64_t elements;

  std::uint64_t bytes() const { return elements * facts_of(dtype).bytes; }
};

// Its elements lie in its storage's `elements`.
struct TensorRef {
  std::uint32_t storage;
  Dtype dtype;
  std::int64_t offset;  // in elements of `dtype`
  Ref sizes, strides;   // tuples of as many integers
  bool requires_grad = false, is_parameter = false, conjugate = false, negative = false;
};

struct Pickle {
  std::vector<Object> objects;
  Ref root = 0;
  std::vector<StorageRef> storages;
  std::vector<TensorRef> tensors;
  std::size_t bytes = 0;  // that it took

  const Object& object(Ref ref) const { return objects[ref]; }
};

// Objects that every pickle begins with.
inline constexpr Ref kNoneRef = 0, kFalseRef = 1, kTrueRef = 2;

}  // namespace tandem::pickle
