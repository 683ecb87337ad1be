// What is printed of several hosts.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/hosts/comparison.h"

namespace tandem::doctor {

class HostsPage {
 public:
  // With `as_json` nothing is printed before the end.
  HostsPage(const std::vector<HostState>& hosts, bool as_json)
      : hosts_(hosts), as_json_(as_json), sections_(hosts.size()) {}

  // Lines of a host's own, in the hosts' order, whichever is the first to answer.
  void tell_of_host(std::size_t host, const std::string& lines);
  // A finding about several; `quietly`: it is told of elsewhere.
  void add(HostFinding one, bool quietly = false);
  int problems_between() const;
  // Prints the table, or all as JSON. Returns the exit code.
  int conclude() const;

 private:
  void print(const std::string& text) const;

  const std::vector<HostState>& hosts_;
  const bool as_json_;
  std::vector<std::string> sections_;  // of each host
  std::size_t told_ = 0;               // of these
  std::vector<HostFinding> between_;
  bool has_begun_ = false;  // to print what is between hosts
};

}  // namespace tandem::doctor
