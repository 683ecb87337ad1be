// The machines of a launch, as -H and --hostfile name them.
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace tandem::launch {

struct Host {
  std::string login;  // as ssh is told: [USER@]NAME
  int slots = 0;      // ranks there; 0: not said

  // Without the user.
  std::string name() const { return login.substr(login.rfind('@') + 1); }
};

// "host:slots,user@host2:slots,[::1]:2". Throws Failure for what is no host name, for slots that are no number and for
// a host that is named twice.
std::vector<Host> parse_hosts(const std::string& list);

// Of a hostfile's lines; `name` is that of the text, for errors. May be empty.
std::vector<Host> parse_host_lines(std::istream& text, const std::string& name);

// Lines `host`, `host:N`, `host slots=N` (`max_slots=N` is taken and not needed); what follows a # is a comment. Throws
// Failure, which names the line, as above, and for files that cannot be read.
std::vector<Host> read_hostfile(const std::string& path);

}  // namespace tandem::launch
