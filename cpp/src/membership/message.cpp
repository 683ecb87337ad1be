#include "membership/message.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json_document.h"
#include "tandem/error.h"

namespace tandem::membership {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hello, member)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Join, epoch, committed, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Serve, epoch, host, port)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PauseAnswer, epoch, number, step, accepted)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Progress, epoch, step, waits, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Done, epoch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Leave, epoch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Bye, epoch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Form, epoch, rank, serves, host, port, committed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Interrupt, epoch, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Pause, epoch, number, step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Go, epoch, number, may_leave)

namespace {

using Json = nlohmann::json;

constexpr const char* kKinds[] = {"hello", "join", "serve",     "pause-answer", "progress", "done",    "leave",
                                  "bye",   "form", "interrupt", "pause",        "go",       "finished", "released"};
static_assert(std::size(kKinds) == std::variant_size_v<Message>);

template <std::size_t Kind = 0>
Message message_of(std::size_t kind, const Json& json) {
  if constexpr (Kind == std::variant_size_v<Message>) {
    throw std::invalid_argument("is of no known kind");
  } else {
    if (kind != Kind) return message_of<Kind + 1>(kind, json);
    using Type = std::variant_alternative_t<Kind, Message>;
    if constexpr (std::is_empty_v<Type>) {
      return Type{};
    } else {
      return json.get<Type>();
    }
  }
}

std::size_t kind_of(const std::string& name) {
  std::size_t kind = 0;
  while (kind < std::size(kKinds) && name != kKinds[kind]) ++kind;
  return kind;
}

}  // namespace

std::string encode(const Message& message) {
  Json json = Json::object();
  std::visit(
      [&](const auto& content) {
        if constexpr (!std::is_empty_v<std::decay_t<decltype(content)>>) json = content;
      },
      message);
  json["kind"] = kKinds[message.index()];
  // Texts come from programs and their exceptions, in whatever encoding.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Message decode(std::string_view bytes) {
  try {
    if (bytes.size() > kMostMessageBytes) throw std::invalid_argument("is too long");
    const Json json = parse_json_document(bytes);
    return message_of(kind_of(json.at("kind").get<std::string>()), json);
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kDataLoss, std::string("a message between agent and worker ") + error.what());
  }
}

}  // namespace tandem::membership
