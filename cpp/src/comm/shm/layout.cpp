#include "comm/shm/layout.h"

#include <iterator>

namespace tandem::shm {
namespace {

// What a peer wrote may be any number.
template <std::size_t kCount>
const char* entry(const char* const (&names)[kCount], std::uint32_t number) {
  return number < kCount ? names[number] : "unknown";
}

}  // namespace

const char* name_of(CollectiveKind collective) {
  static constexpr const char* kNames[] = {"nothing", "all_reduce", "broadcast",      "reduce",     "all_gather",
                                           "gather",  "scatter",    "reduce_scatter", "all_to_all", "barrier"};
  return entry(kNames, static_cast<std::uint32_t>(collective));
}

const char* name_of(Element element) {
  static constexpr const char* kNames[] = {"bytes",  "uint8",  "int8",    "int16",    "int32",   "int64",   "uint16",
                                           "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "bool"};
  return entry(kNames, static_cast<std::uint32_t>(element));
}

std::size_t size_of(Element element) {
  switch (element) {
    case Element::kI16:
    case Element::kU16:
    case Element::kF16:
    case Element::kBF16:
      return 2;
    case Element::kI32:
    case Element::kU32:
    case Element::kF32:
      return 4;
    case Element::kI64:
    case Element::kU64:
    case Element::kF64:
      return 8;
    default:
      return 1;
  }
}

const char* name_of(Operation operation) {
  static constexpr const char* kNames[] = {"",    "SUM",  "AVG", "PRODUCT", "MIN",
                                           "MAX", "BAND", "BOR", "BXOR",    "PREMUL_SUM"};
  return entry(kNames, static_cast<std::uint32_t>(operation));
}

bool are_alike(const Label& a, const Label& b) {
  return a.sequence == b.sequence && a.collective == b.collective && a.element == b.element &&
         a.operation == b.operation && a.root == b.root && a.bytes == b.bytes;
}

}  // namespace tandem::shm
