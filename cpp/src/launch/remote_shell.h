// Commands that ssh has a shell on another machine run.
#pragma once

#include <string>
#include <vector>

namespace tandem::launch {

// One word for any shell of Unix, whatever it contains. Throws Failure for line ends and NUL, which no quoting carries
// through all of them.
std::string quoted_for_shell(const std::string& word);

// Words between blanks; '…' and "…" keep blanks together. Throws Failure, which names `what`, for a quote without an
// end.
std::vector<std::string> split_words(const std::string& text, const std::string& what);

// What ssh to call and how: TANDEM_SSH ("ssh" where it is not set), then the words of --ssh-args.
std::vector<std::string> ssh_words(const std::string& ssh_args);

// `ssh [OPTIONS] -- LOGIN COMMAND`, the agent of that host: `tool`, by its path there, reads from stdin what to do. No
// question is asked, no connection waited for longer than some seconds, and a host that is silent counts as lost.
std::vector<std::string> ssh_command(std::vector<std::string> ssh, const std::string& login, const std::string& tool);

}  // namespace tandem::launch
