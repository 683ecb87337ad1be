#include "membership/node_message.h"

#include <nlohmann/json.hpp>

#include "membership/json_variant.h"

namespace tandem::membership {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Returned, member, slot, state, elastic, leaving, rank, epoch, committed, history)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Arrive, protocol, run, host, address, port, ranks, wanted, node, first_slot, job, members)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Started, member, slot)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Lost, member, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Disconnected, member, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FromWorker, member, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failed, text, exit_code)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Refused, why, for_good, is_over)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Begin, node, nodes, first_rank, world_size, master_address, master_port, epoch, job)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ToWorker, member, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Beat, suspended, nodes, elastic, uncertain)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Reported, begins, part)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Told, event, member, text, exit_code, epoch, world_size, progress)

namespace {

constexpr const char* kNodeKinds[] = {"arrive", "started", "lost",  "disconnected", "from-worker", "failed",
                                  "ended",  "refused", "begin", "to-worker",    "told",        "beat",
                                  "reported"};

}  // namespace

std::string encode_node(const NodeMessage& message) { return encode_variant(message, kNodeKinds); }

NodeMessage decode_node(std::string_view bytes) { return decode_variant<NodeMessage>(bytes, kNodeKinds, "a message between agents"); }

}  // namespace tandem::membership
