#include "comm/environment.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <vector>

#include "tandem/error.h"

namespace tandem {
namespace {

constexpr const char* kRemedy = "; start the program with `tandem run`, which sets it";

std::int64_t to_number(const std::string& name, const std::string& text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw Error(ErrorCode::kInvalidArgument, name + " is '" + text + "'; it must be a whole number from " +
                                                 std::to_string(low) + " to " + std::to_string(high) + kRemedy);
  }
  return value;
}

void require(const std::vector<const char*>& names) {
  std::string missing;
  int count = 0;
  for (const char* name : names) {
    if (environment_variable(name)) continue;
    missing += (count++ ? ", " : "") + std::string(name);
  }
  if (count == 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the environment lacks " + missing + ", which " + (count == 1 ? "tells" : "tell") +
                  " a process its place among the ranks; start the program with `tandem run -n 2 program` (or " +
                  "torchrun), or set " + (count == 1 ? "it" : "them"));
}

bool is_true(const std::optional<std::string>& text) {
  return text && (*text == "True" || *text == "true" || *text == "1");
}

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  return text;
}

void check_rank(int rank, int world_size) {
  if (world_size < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "the world size is " + std::to_string(world_size) + "; it must be 1 or more");
  }
  if (rank < 0 || rank >= world_size) {
    throw Error(ErrorCode::kInvalidArgument, "rank " + std::to_string(rank) + " is outside a world of " +
                                                 std::to_string(world_size) + ": ranks are 0 to " +
                                                 std::to_string(world_size - 1) + " (RANK, WORLD_SIZE)");
  }
}

void read_rank_and_size(int* rank, int* world_size) {
  constexpr int kMost = std::numeric_limits<int>::max();
  std::vector<const char*> needed;
  if (*rank < 0) needed.push_back("RANK");
  if (*world_size < 0) needed.push_back("WORLD_SIZE");
  require(needed);
  if (*rank < 0) *rank = static_cast<int>(to_number("RANK", *environment_variable("RANK"), 0, kMost));
  if (*world_size < 0) {
    *world_size = static_cast<int>(to_number("WORLD_SIZE", *environment_variable("WORLD_SIZE"), 1, kMost));
  }
  check_rank(*rank, *world_size);
}

LaunchEnvironment read_launch_environment(int rank, int world_size) {
  std::vector<const char*> needed;
  if (rank < 0) needed.push_back("RANK");
  if (world_size < 0) needed.push_back("WORLD_SIZE");
  needed.push_back("MASTER_ADDR");
  needed.push_back("MASTER_PORT");
  require(needed);

  LaunchEnvironment result;
  result.rank = rank;
  result.world_size = world_size;
  read_rank_and_size(&result.rank, &result.world_size);
  result.master_address = *environment_variable("MASTER_ADDR");
  result.master_port =
      static_cast<std::uint16_t>(to_number("MASTER_PORT", *environment_variable("MASTER_PORT"), 1, 65535));
  result.agent_hosts_store = is_true(environment_variable("TORCHELASTIC_USE_AGENT_STORE"));
  // An agent's store outlives the workers of one attempt: what these wrote must not be read by the next.
  result.job_prefix = "tandem/" + environment_variable("TORCHELASTIC_RUN_ID").value_or("") + "/" +
                      environment_variable("TORCHELASTIC_RESTART_COUNT").value_or("0");
  return result;
}

}  // namespace tandem
