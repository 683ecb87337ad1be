#include "launch/agent_setup.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"
#include "launch/failure.h"

namespace tandem::launch {
namespace {

constexpr const char* kFirstLine = "tandem agent 1";
constexpr std::size_t kLongestSetupLine = 32;
constexpr std::size_t kMostTexts = 1 << 20, kMostSetupBytes = 64 << 20;

[[noreturn]] void refuse_setup(const std::string& why) {
  throw Failure("this agent was not told what to do (" + why +
                "): whoever started it has ended, or is of another release of Tandem");
}

// Byte by byte: what follows the setup is read by others.
std::string read_setup_line(int fd) {
  std::string line;
  for (char c = 0; line.size() <= kLongestSetupLine;) {
    if (read_all(fd, &c, 1) != 1) refuse_setup("its stdin has ended");
    if (c == '\n') return line;
    line += c;
  }
  refuse_setup("a line is too long");
}

std::size_t read_setup_number(int fd, std::size_t most) {
  const std::string line = read_setup_line(fd);
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(line.c_str(), &end, 10);
  if (line.empty() || line.front() < '0' || line.front() > '9' || *end || errno != 0 || value > most) {
    refuse_setup("'" + line + "' is no number");
  }
  return static_cast<std::size_t>(value);
}

void append_text(std::string& bytes, const std::string& text) {
  bytes += std::to_string(text.size()) + "\n" + text;
}

}  // namespace

std::string working_folder() {
  const std::string real = std::filesystem::current_path().string();
  const char* called = std::getenv("PWD");
  std::error_code error;
  return called && *called == '/' && std::filesystem::equivalent(called, real, error) && !error ? called : real;
}

std::string encode(const AgentSetup& setup) {
  std::string bytes = std::string(kFirstLine) + "\n";
  append_text(bytes, setup.host);
  append_text(bytes, setup.folder);
  bytes += std::to_string(setup.variables.size()) + "\n";
  for (const auto& [name, value] : setup.variables) {
    append_text(bytes, name);
    append_text(bytes, value);
  }
  bytes += std::to_string(setup.arguments.size()) + "\n";
  for (const std::string& argument : setup.arguments) append_text(bytes, argument);
  return bytes;
}

AgentSetup read_agent_setup(int fd) {
  if (const std::string first = read_setup_line(fd); first != kFirstLine)
    refuse_setup("it begins with '" + first + "'");
  std::size_t left = kMostSetupBytes;
  const auto text = [&] {
    std::string bytes(read_setup_number(fd, left), '\0');
    left -= bytes.size();
    if (read_all(fd, bytes.data(), bytes.size()) != bytes.size()) refuse_setup("its stdin has ended");
    return bytes;
  };
  AgentSetup setup;
  setup.host = text();
  setup.folder = text();
  for (std::size_t count = read_setup_number(fd, kMostTexts); count > 0; --count) {
    std::string name = text();
    setup.variables.emplace_back(std::move(name), text());
  }
  for (std::size_t count = read_setup_number(fd, kMostTexts); count > 0; --count) setup.arguments.push_back(text());
  return setup;
}

std::vector<std::string> take_agent_setup(int fd) {
  AgentSetup setup = read_agent_setup(fd);
  if (chdir(setup.folder.c_str()) != 0) {
    throw Failure(setup.host + " has no folder " + setup.folder + " in which to start the program (" +
                  std::strerror(errno) + "); make it there, or give the command in a folder that all hosts have");
  }
  setenv("PWD", setup.folder.c_str(), 1);
  for (const auto& [name, value] : setup.variables) setenv(name.c_str(), value.c_str(), 1);
  return std::move(setup.arguments);
}

}  // namespace tandem::launch
