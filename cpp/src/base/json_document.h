// JSON that anyone may have made, as one value.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace tandem {

// What is wrong with such a text, to be said of it: "is nested more than 256 deep".
struct JsonFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Members keep their order. Takes time by the text's length alone, where nlohmann's own parser looks among all members
// before for each. Throws JsonFault: what is no JSON, nests deeper than kDeepestJson, or has a member of an object
// twice.
nlohmann::ordered_json parse_json_document(std::string_view text);

// Adds a member that the object does not have yet, without looking for it.
inline void append_member(nlohmann::ordered_json& object, const std::string& name, nlohmann::ordered_json value) {
  object.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(name, std::move(value));
}

}  // namespace tandem
