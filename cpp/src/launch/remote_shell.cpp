#include "launch/remote_shell.h"

#include <cstdlib>
#include <optional>

#include "launch/agent_setup.h"
#include "launch/failure.h"

namespace tandem::launch {

std::string quoted_for_shell(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\n' || c == '\r' || c == '\0') {
      throw Failure("a path on another machine must not have line ends: '" + word + "'");
    }
    if (c == '\'') {
      quoted += "'\\''";
    } else if (c == '\\') {  // fish takes it for an escape between '…', csh takes it as it is between "…"
      quoted += "'\\\\'";
    } else if (c == '!') {  // of csh's history, between '…' too
      quoted += "'\\!'";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::vector<std::string> split_words(const std::string& text, const std::string& what) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (const char c : text) {
    if (quote) {
      if (c == quote) {
        quote = 0;
      } else {
        *word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      if (!word) word.emplace();
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (word) words.push_back(*word);
      word.reset();
    } else {
      if (!word) word.emplace();
      *word += c;
    }
  }
  if (quote) throw Failure(what + " is " + text + ", where a quote has no end");
  if (word) words.push_back(*word);
  return words;
}

std::vector<std::string> ssh_words(const std::string& ssh_args) {
  const char* program = std::getenv("TANDEM_SSH");
  std::vector<std::string> words = split_words(program ? program : "", "TANDEM_SSH");
  if (words.empty()) words = {"ssh"};
  for (std::string& word : split_words(ssh_args, "--ssh-args")) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> ssh_command(std::vector<std::string> ssh, const std::string& login, const std::string& tool) {
  // The first that says something wins: the user's own words stand before these.
  for (const char* option : {"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3",
                             "ClearAllForwardings=yes", "LogLevel=ERROR"}) {
    ssh.insert(ssh.end(), {"-o", option});
  }
  ssh.insert(ssh.end(), {"-T", "--", login, "exec " + quoted_for_shell(tool) + " run " + kAgentSetupFlag});
  return ssh;
}

}  // namespace tandem::launch
