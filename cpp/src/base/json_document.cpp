#include "base/json_document.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json_depth.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

// Puts together what the parser meets.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // of other formats

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool key(string_t& name) override {
    name_ = std::move(name);
    return true;
  }
  bool end_object() override {
    const auto& members = open_.back()->get_ref<const Json::object_t&>();
    std::vector<const std::string*> names;
    for (const auto& member : members) names.push_back(&member.first);
    std::sort(names.begin(), names.end(), [](auto* a, auto* b) { return *a < *b; });
    const auto twice = std::adjacent_find(names.begin(), names.end(), [](auto* a, auto* b) { return *a == *b; });
    if (twice != names.end()) throw JsonFault("has '" + (*twice)->substr(0, 200) + "' twice");
    open_.pop_back();
    return true;
  }

  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    throw JsonFault(std::string("is no JSON: ") + error.what());
  }

 private:
  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (open_.size() >= kDeepestJson) {
      throw JsonFault("is nested more than " + std::to_string(kDeepestJson) + " deep");
    }
    open_.push_back(place(std::move(container)));
    return true;
  }

  // An open value stays where it is until it is closed: only then its neighbours come.
  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Json& into = *open_.back();
    if (into.is_array()) return &into.get_ref<Json::array_t&>().emplace_back(std::move(value));
    append_member(into, name_, std::move(value));
    return &into.get_ref<Json::object_t&>().back().second;
  }

  Json root_;
  std::vector<Json*> open_;
  std::string name_;
};

}  // namespace

Json parse_json_document(std::string_view text) {
  Builder builder;
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace tandem
