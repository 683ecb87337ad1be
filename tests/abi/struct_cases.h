// Structs of tandem.h, each with a call that takes it.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <vector>

#include "tandem/tandem.h"

namespace struct_sizes {

using Bytes = std::vector<unsigned char>;

// A struct of tandem.h with struct_size, and a call that takes it.
struct Case {
  const char* type;
  Bytes initial;                          // what the _INIT macro makes, with what the call cannot do without
  std::size_t required;                   // bytes of it that the call cannot do without
  std::function<tdm_error*(void*)> call;  // ends what it made
  bool is_output = false;                 // the call fills it
};

inline std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.type;
}

template <typename Struct>
Case of_struct(const char* type, const Struct& initial, tdm_error* (*call)(Struct*),
               std::size_t required = sizeof(std::size_t)) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&initial);
  return {type, Bytes(bytes, bytes + sizeof initial), required,
          [call](void* given) { return call(static_cast<Struct*>(given)); }};
}

template <typename Struct>
Case output(const char* type, const Struct& initial, tdm_error* (*call)(Struct*)) {
  Case made = of_struct(type, initial, call);
  made.is_output = true;
  return made;
}

#define INITIAL(type, INIT) #type, type INIT

// Those of calls between workers.
std::vector<Case> rpc_cases();

}  // namespace struct_sizes
