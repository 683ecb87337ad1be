#include "launch/doctor/hosts/hosts_page.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "launch/doctor/page.h"

using nlohmann::json;

namespace tandem::doctor {
namespace {

json described(const HostState& host) {
  json one = {{"name", host.name}, {"takes_part", host.takes_part()}};
  if (host.report) one["report"] = *host.report;
  if (!host.gloo.empty()) {
    json places = json::array();
    for (const GlooPlace& at : host.gloo) places.push_back({{"interface", at.interface}, {"address", at.address}});
    one["gloo"] = {{"at", places}, {"because", host.gloo_because}};
  }
  if (host.clock_error >= 0) one["clock"] = {{"ahead_seconds", host.clock}, {"error_seconds", host.clock_error}};
  return one;
}

// Of "a → b" with the longest names.
std::size_t width_of_ways(const std::vector<HostState>& hosts) {
  std::vector<std::size_t> sizes = {0, 0};
  for (const HostState& host : hosts) sizes.push_back(host.name.size());
  std::ranges::sort(sizes, std::greater<>());
  return std::max(kTopicWidth, sizes[0] + sizes[1] + 3);
}

}  // namespace

void HostsPage::print(const std::string& text) const {
  if (as_json_) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void HostsPage::tell_of_host(std::size_t host, const std::string& lines) {
  sections_[host] = hosts_[host].name + ":\n" + lines + "\n";
  for (; told_ < sections_.size() && !sections_[told_].empty(); ++told_) print(sections_[told_]);
}

void HostsPage::add(HostFinding one, bool quietly) {
  if (!quietly) {
    if (!has_begun_) print("between the hosts:\n");
    has_begun_ = true;
    print(lines_of({one.finding}, width_of_ways(hosts_)));
  }
  between_.push_back(std::move(one));
}

int HostsPage::problems_between() const {
  int problems = 0;
  for (const HostFinding& one : between_) problems += count({one.finding}).problems;
  return problems;
}

int HostsPage::conclude() const {
  Count counted;
  const auto take = [&](const Count& more) {
    counted.problems += more.problems;
    counted.warnings += more.warnings;
  };
  json findings = json::array(), hosts = json::array();
  for (const HostState& host : hosts_) {
    if (host.report) take(count(host.report->findings));
    hosts.push_back(described(host));
  }
  for (const HostFinding& one : between_) {
    take(count({one.finding}));
    json finding = one.finding;
    finding["hosts"] = json::array();
    for (const std::size_t place : one.hosts) finding["hosts"].push_back(hosts_[place].name);
    findings.push_back(std::move(finding));
  }
  if (as_json_) {
    const json all = {{"ok", counted.problems == 0}, {"hosts", hosts}, {"findings", findings}};
    std::puts(all.dump(2, ' ', false, json::error_handler_t::replace).c_str());
  } else {
    print((has_begun_ ? "\n" : "") + table_of(rows_of(hosts_, between_)) + "\n" + describe(counted) + "\n");
  }
  return counted.problems > 0 ? 1 : 0;
}

}  // namespace tandem::doctor
