#include "launch/host_list.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "launch/failure.h"
#include "launch/numbers.h"

namespace tandem::launch {
namespace {

constexpr std::size_t kLongestHostfile = 8 << 20, kMostHosts = 65536;
constexpr int kMostSlots = 65536;

// ssh takes what begins with a hyphen for an option, and passes names on to programs of its user's configuration.
void check_login(const std::string& login, const std::string& where) {
  const std::size_t at = login.find('@');
  const std::string user = at == std::string::npos ? "" : login.substr(0, at);
  const std::string name = at == std::string::npos ? login : login.substr(at + 1);
  const auto is_made_of = [](const std::string& text, const char* more) {
    for (const char c : text) {
      if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr(more, c)) return false;
    }
    return !text.empty() && text.front() != '-';
  };
  if (is_made_of(name, ".-_:%") && (at == std::string::npos || is_made_of(user, ".-_+"))) return;
  throw Failure(where + " has '" + login +
                "', which is no host: [USER@]NAME or [USER@]ADDRESS, of letters, digits, '.', '-' "
                "and '_', and not beginning with '-'");
}

// HOST or HOST:SLOTS; an IPv6 address in brackets.
Host host_of(const std::string& text, const std::string& where) {
  Host host;
  const std::size_t open = text.find('['), close = text.find(']');
  std::string after;
  if (open != std::string::npos && close != std::string::npos && open < close) {
    host.login = text.substr(0, open) + text.substr(open + 1, close - open - 1);
    after = text.substr(close + 1);
  } else {
    const std::size_t colon = text.find(':');
    host.login = text.substr(0, colon);
    after = colon == std::string::npos ? "" : text.substr(colon);
    if (after.find(':', 1) != std::string::npos) {
      throw Failure(where + " has '" + text +
                    "', with several colons; an IPv6 address is written [ADDRESS] or [ADDRESS]:SLOTS");
    }
  }
  check_login(host.login, where);
  if (!after.empty() && after.front() != ':')
    throw Failure(where + " has '" + text + "', but a host is HOST or HOST:SLOTS");
  if (!after.empty()) host.slots = whole_number(after.substr(1), "the number of slots of " + host.login, 1, kMostSlots);
  return host;
}

void add_once(std::vector<Host>& hosts, std::set<std::string>& seen, Host host, const std::string& where) {
  if (!seen.insert(host.name()).second) {
    throw Failure(where + " names " + host.name() + " a second time; give all its ranks at once (" + host.name() +
                  ":SLOTS)");
  }
  if (hosts.size() == kMostHosts) throw Failure(where + ": more than " + std::to_string(kMostHosts) + " hosts");
  hosts.push_back(std::move(host));
}

}  // namespace

std::vector<Host> parse_hosts(const std::string& list) {
  std::vector<Host> hosts;
  std::set<std::string> seen;
  std::istringstream rest(list);
  for (std::string one; std::getline(rest, one, ',');) add_once(hosts, seen, host_of(one, "-H"), "-H");
  if (hosts.empty() || list.back() == ',') throw Failure("-H is '" + list + "', but has to be HOST:SLOTS,HOST:SLOTS,…");
  return hosts;
}

std::vector<Host> parse_host_lines(std::istream& given, const std::string& name_of_text) {
  std::string whole(kLongestHostfile + 1, '\0');
  given.read(whole.data(), static_cast<std::streamsize>(whole.size()));
  whole.resize(static_cast<std::size_t>(given.gcount()));
  if (whole.size() > kLongestHostfile) throw Failure(name_of_text + " is larger than 8 MiB, and so no list of hosts");
  std::istringstream text(whole);
  std::vector<Host> hosts;
  std::set<std::string> seen;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    const std::string where = name_of_text + ":" + std::to_string(++number);
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    Host host = host_of(word, where);
    while (words >> word) {
      const std::size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      const bool is_slots = name == "slots";
      if (equals == std::string::npos || (!is_slots && name != "max_slots" && name != "max-slots")) {
        throw Failure(where + " has '" + word + "' after the host, where slots=N may stand");
      }
      const int value = whole_number(word.substr(equals + 1), where + ": " + name, 1, kMostSlots);
      if (is_slots && host.slots != 0) throw Failure(where + " says twice how many slots " + host.login + " has");
      if (is_slots) host.slots = value;
    }
    add_once(hosts, seen, std::move(host), where);
  }
  return hosts;
}

std::vector<Host> read_hostfile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Failure("--hostfile " + path + " cannot be read: " + std::strerror(errno));
  std::vector<Host> hosts = parse_host_lines(file, path);
  if (file.bad()) throw Failure("--hostfile " + path + " cannot be read: " + std::strerror(errno));
  if (hosts.empty()) throw Failure("--hostfile " + path + " names no host");
  return hosts;
}

}  // namespace tandem::launch
