#include "membership/message.h"

#include <nlohmann/json.hpp>

#include "membership/json_variant.h"
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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Permit, epoch, number)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Permitted, epoch, number, why_not)

namespace {

constexpr const char* kKinds[] = {"hello", "join", "serve",     "pause-answer", "progress", "done",    "leave",
                                  "bye",   "form", "interrupt", "pause",        "go",       "finished", "released",
                                  "permit", "permitted"};
constexpr const char* kWhat = "a message between agent and worker";

}  // namespace

std::string encode(const Message& message) { return encode_variant(message, kKinds); }

Message decode(std::string_view bytes) {
  if (bytes.size() > kMostMessageBytes) throw Error(ErrorCode::kDataLoss, std::string(kWhat) + " is too long");
  return decode_variant<Message>(bytes, kKinds, kWhat);
}

}  // namespace tandem::membership
