// A JSON object whose keys are options: each is read once, and none may be left over.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::options {

using Json = nlohmann::ordered_json;

// Throws Error(kInvalidArgument) for what is no JSON, has a key twice in one object, or is nested deeper than any of
// what options are. `what` is its name in errors.
Json parse_json(std::string_view text, const std::string& what);

class Object {
 public:
  // `json` must outlive it; `where` says in errors which object it is. Throws where it is none.
  Object(const Json& json, std::string where);

  // The option's value, or `otherwise` where it is not given. Throws for a value of another type.
  std::int64_t integer(const char* key, std::int64_t otherwise);
  std::uint64_t natural(const char* key, std::uint64_t otherwise);
  double number(const char* key, double otherwise);
  bool boolean(const char* key, bool otherwise);
  std::array<double, 2> range(const char* key, std::array<double, 2> otherwise);
  std::vector<double> numbers(const char* key);
  std::vector<std::string> strings(const char* key);
  // One of the choices, which is its number.
  std::size_t choice(const char* key, const std::vector<std::string>& choices, std::size_t otherwise);
  // NULL where it is not given.
  const Json* find(const char* key);
  // What has to be given.
  const Json& require(const char* key);

  // Throws where an option is left that nothing asked for.
  void finish() const;
  const std::string& where() const { return where_; }

 private:
  [[noreturn]] void refuse(const char* key, const std::string& wanted) const;

  const Json& json_;
  std::string where_;
  std::set<std::string> known_;
};

}  // namespace tandem::options
