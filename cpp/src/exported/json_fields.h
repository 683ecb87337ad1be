// Reading the JSON of an archive, which anyone may have made: what is missing or of another type is an error that says
// where.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/json_document.h"
#include "tandem/error.h"

namespace tandem::exported {

using Json = nlohmann::ordered_json;

// `where` is what errors begin with: "model.pt2: models/model.json: node 'conv2d'".
[[noreturn]] inline void damaged(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kDataLoss, where + " " + what);
}
[[noreturn]] inline void unsupported(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kUnsupported, where + " " + what);
}

// Null where there is none, or it is JSON's null.
const Json* find(const Json& object, const char* name);
const Json& member(const Json& object, const char* name, const std::string& where);
const Json& list(const Json& value, const std::string& where);
const Json& list(const Json& object, const char* name, const std::string& where);
const Json& object(const Json& object, const char* name, const std::string& where);
const std::string& text(const Json& value, const std::string& where);
const std::string& text(const Json& object, const char* name, const std::string& where);
std::int64_t integer(const Json& value, const std::string& where);
bool boolean(const Json& value, const std::string& where);
// A number, or "Infinity", "-Infinity", "NaN".
double real(const Json& value, const std::string& where);

// A value of one of several kinds, as {"as_tensor": …}: the kind and the value.
std::pair<const std::string&, const Json&> one_of(const Json& value, const std::string& where);

// The name that a value of the schema's Argument union has in its graph; "" for a constant. Throws Error (kUnsupported)
// for TorchBind objects.
std::string name_in_graph(const Json& argument, const std::string& where);

}  // namespace tandem::exported
