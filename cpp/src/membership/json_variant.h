// Messages that are one of several structs, as JSON objects with a "kind".
#pragma once

#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/json_document.h"
#include "tandem/error.h"

namespace tandem::membership {

template <typename Variant, std::size_t Kind = 0>
Variant alternative_of(std::size_t kind, const nlohmann::json& json) {
  if constexpr (Kind == std::variant_size_v<Variant>) {
    throw std::invalid_argument("is of no known kind");
  } else {
    if (kind != Kind) return alternative_of<Variant, Kind + 1>(kind, json);
    using Type = std::variant_alternative_t<Kind, Variant>;
    if constexpr (std::is_empty_v<Type>) {
      return Type{};
    } else {
      return json.get<Type>();
    }
  }
}

// `kinds` has a name for each alternative.
template <typename... Types, std::size_t Count>
std::string encode_variant(const std::variant<Types...>& message, const char* const (&kinds)[Count]) {
  static_assert(Count == sizeof...(Types));
  nlohmann::json json = nlohmann::json::object();
  std::visit(
      [&](const auto& content) {
        if constexpr (!std::is_empty_v<std::decay_t<decltype(content)>>) json = content;
      },
      message);
  json["kind"] = kinds[message.index()];
  // Texts come from programs and their exceptions, in whatever encoding.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Throws Error(kDataLoss), which says that `what` is wrong.
template <typename Variant, std::size_t Count>
Variant decode_variant(std::string_view bytes, const char* const (&kinds)[Count], const std::string& what) {
  try {
    const nlohmann::json json = parse_json_document(bytes);
    for (const auto& value : json) {
      if (value.is_number_float()) throw std::invalid_argument("has a number that is no integer");
    }
    const auto name = json.at("kind").get<std::string>();
    std::size_t kind = 0;
    while (kind < Count && name != kinds[kind]) ++kind;
    return alternative_of<Variant>(kind, json);
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kDataLoss, what + " " + error.what());
  }
}

}  // namespace tandem::membership
