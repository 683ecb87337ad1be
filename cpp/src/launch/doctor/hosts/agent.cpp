#include "launch/doctor/hosts/agent.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>

#include "comm/sockets.h"
#include "launch/doctor/hosts/listeners.h"
#include "launch/doctor/hosts/reach.h"
#include "launch/doctor/interfaces.h"
#include "launch/doctor/process.h"
#include "launch/failure.h"
#include "launch/signals.h"
#include "tandem/error.h"

using nlohmann::json;

namespace tandem::doctor {
namespace {

constexpr std::size_t kLongestOrder = 8 << 20;
constexpr double kToResolve = 15;  // seconds
constexpr std::size_t kMostListeners = 64;
constexpr std::chrono::minutes kWithoutOrders{5};  // beside what other hosts' checks may take
constexpr int kMostChecks = 4;                     // of these that take the seconds of one

// Of connections and listeners whose port the system chooses.
std::string ports_that_are_chosen() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  int first = 32768, last = 60999;
  file >> first >> last;
  return std::to_string(first) + " to " + std::to_string(last);
}

json described(const Interface& one) {
  return {{"interface", one.name},
          {"address", one.address},
          {"loopback", one.is_loopback},
          {"containers", is_of_containers(one.name)}};
}

std::vector<json> described(const std::vector<Interface>& all) {
  std::vector<json> them;
  for (const Interface& one : all) them.push_back(described(one));
  return them;
}

class Agent {
 public:
  explicit Agent(const ExaminationOptions& options) : options_(options), interruption_(signals_, STDIN_FILENO) {}

  int run() {
    while (Clock::now() - last_order_ < kWithoutOrders + kMostChecks * seconds_of(options_.seconds)) {
      std::vector<pollfd> polled = {{STDIN_FILENO, POLLIN, 0}};
      listeners_.add_polled(&polled);
      if (reach_) reach_->add_polled(&polled);
      const auto until = reach_ ? reach_->deadline() : Clock::now() + std::chrono::seconds(60);
      interruption_.wait_for_orders(polled, std::min(until, listeners_.resumes()));
      listeners_.serve();
      if (reach_) {
        reach_->serve();
        if (reach_->is_over()) {
          answer({{"outcomes", reach_->outcomes()}});
          reach_.reset();
        }
      }
      if (polled.front().revents != 0 && !read_orders()) return 0;
    }
    return 0;
  }

 private:
  bool read_orders() {
    char buffer[1 << 16];
    const ssize_t size = read(STDIN_FILENO, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) return true;
    if (size <= 0) return false;
    rest_.append(buffer, static_cast<std::size_t>(size));
    if (rest_.size() > kLongestOrder) throw launch::Failure("an order of more than 8 MiB came");
    for (std::size_t end = 0; (end = rest_.find('\n')) != std::string::npos;) {
      const std::string line = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      try {
        obey(json::parse(line));
      } catch (const json::exception& error) {
        answer({{"error", std::string("an order makes no sense here: ") + error.what()}});
      } catch (const Error& error) {
        answer({{"error", error.what()}});
      }
      last_order_ = Clock::now();
    }
    return true;
  }

  void obey(const json& order) {
    const auto what = order.at("do").get<std::string>();
    if (what == "examine") {
      options_.folder = order.at("folder").get<std::string>();
      options_.is_quick = order.at("quick").get<bool>();
      options_.seconds = order.at("seconds").get<double>();
      answer({{"report", examine_machine(options_, interruption_, [](const auto&) {})}});
    } else if (what == "clock") {
      const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
      answer({{"now", now.count()}});
    } else if (what == "resolve") {
      resolve(order.at("names").get<std::vector<std::string>>());
    } else if (what == "listen") {
      listen(order);
    } else if (what == "connect") {
      std::vector<net::Endpoint> targets;
      for (const json& one : order.at("targets")) {
        targets.push_back({one.at("address").get<std::string>(), one.at("port").get<std::uint16_t>()});
      }
      reach_.emplace(targets, order.at("token").get<std::string>(),
                     Clock::now() + seconds_of(order.at("seconds").get<double>()));
      if (!reach_->is_over()) return;
      answer({{"outcomes", reach_->outcomes()}});
      reach_.reset();
    } else {
      answer({{"error", "this tandem knows no order '" + what + "'"}});
    }
  }

  void resolve(const std::vector<std::string>& names) {
    std::vector<std::string> command = {"/proc/self/exe", "doctor"};
    for (const std::string& name : names) command.push_back("--resolve=" + name);
    json found = json::object();
    if (!names.empty()) {
      for (const json& one : run_program(command, kToResolve, interruption_).answers)
        found[one.value("name", "")] = one;
    }
    for (const std::string& name : names) {
      if (!found.contains(name))
        found[name] = {{"name", name},
                       {"error", "no answer in " + std::to_string(static_cast<int>(kToResolve)) + " s"}};
    }
    answer({{"names", found}});
  }

  void listen(const json& order) {
    listeners_.set_token(order.at("token").get<std::string>());
    auto towards = order.at("towards").get<std::string>();
    std::vector<json> made;
    const auto add = [&](const char* what, const Interface& at, std::uint16_t port) {
      json one = described(at);
      one["what"] = what;
      one["error"] = listeners_.add(at.address, &port);
      one["port"] = port;
      made.push_back(one);
      return one["error"] == "";
    };
    const auto meet = order.at("meet").get<std::vector<std::string>>();
    bool meets = false;
    if (!meet.empty()) towards = meet.front();
    for (const std::string& address : meet) {
      if (!add("meet", interface_of(address), order.at("port").get<std::uint16_t>())) continue;
      towards = address;
      meets = true;
      made.erase(made.begin(), made.end() - 1);  // those before it, as a launch does
      break;
    }
    const GlooPlaces gloo = gloo_places(towards, interruption_);
    const auto has_gloo = [&](const std::string& address) {
      return std::ranges::find(gloo.at, address, &Interface::address) != gloo.at.end();
    };
    if (meets && !has_gloo(towards)) add("store", interface_of(towards), 0);
    for (const Interface& one : gloo.at) add("gloo", one, 0);
    std::size_t others = 0;
    for (const Interface& one : interfaces()) {
      if (one.is_up && !one.is_loopback && !has_gloo(one.address) && ++others <= kMostListeners) add("other", one, 0);
    }
    answer({{"gloo", {{"at", described(gloo.at)}, {"because", gloo.because}, {"error", gloo.error}}},
            {"ports", ports_that_are_chosen()},
            {"listeners", made}});
  }

  ExaminationOptions options_;
  launch::Signals signals_;
  Interruption interruption_;
  Listeners listeners_;
  std::optional<Reach> reach_;
  std::string rest_;
  Clock::time_point last_order_ = Clock::now();
};

}  // namespace

int be_agent(const ExaminationOptions& options) {
  Agent agent(options);
  answer({{"release", options.release}});
  return agent.run();
}

int resolve_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    try {
      answer({{"name", name}, {"addresses", net::resolve(name)}});
    } catch (const Error& error) {
      answer({{"name", name}, {"error", error.what()}});
    }
  }
  return 0;
}

}  // namespace tandem::doctor
