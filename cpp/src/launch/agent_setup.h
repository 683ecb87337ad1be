// What an agent that another `tandem run` starts on a machine is to do: it reads this from its stdin before anything
// else, so that folders, values and arguments do not go through a shell, nor show in a list of processes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tandem::launch {

struct AgentSetup {
  std::string host;    // as the user calls it
  std::string folder;  // to work in
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> arguments;  // of the tool: run, flags, program
};

// How an agent is started: `tandem run --agent-setup`.
inline constexpr const char* kAgentSetupFlag = "--agent-setup";

// Of launches: this process's folder, as the user calls it where that is true: a path through links may be the one that
// is the same on all machines.
std::string working_folder();

std::string encode(const AgentSetup& setup);

// Reads one, not a byte more. Throws Failure for what is none, as of another release of Tandem.
AgentSetup read_agent_setup(int fd);

// Has this process work where and with what it says; returns its arguments. Throws Failure where the folder is not
// there.
std::vector<std::string> take_agent_setup(int fd);

}  // namespace tandem::launch
