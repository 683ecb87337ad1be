#include "launch/doctor/hosts/session.h"

#include <utility>

#include "launch/agent_setup.h"
#include "launch/remote_agent.h"
#include "launch/remote_shell.h"

using nlohmann::json;

namespace tandem::doctor {

Session::Session(const launch::HostsPlan& plan, const launch::Host& host, bool here,
                 const std::vector<std::string>& agent_flags, const launch::Signals& signals)
    : host_(host), here_(here), tool_(plan.remote_tool) {
  // Whether the others have this folder is something to find out.
  launch::AgentSetup setup{host.login, here ? launch::working_folder() : "/", plan.exports, {"doctor", "--agent"}};
  setup.arguments.insert(setup.arguments.end(), agent_flags.begin(), agent_flags.end());
  const std::vector<std::string> command =
      here_ ? std::vector<std::string>{"/proc/self/exe", "run", launch::kAgentSetupFlag}
            : launch::ssh_command(plan.ssh, host.login, tool_);
  process_ = std::make_unique<Process>(command, signals, /*has_input=*/true);
  process_->send(launch::encode(setup));
}

void Session::fail(const std::string& why) {
  if (failure_.empty()) failure_ = why;
  process_->close_input();
}

void Session::order(const json& order) {
  process_->send(order.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

std::optional<json> Session::take_answer() {
  process_->serve();
  if (const auto line = process_->next_answer()) {
    json message = json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (message.is_object()) return message;
    fail("what its agent answered is no JSON object");
    return std::nullopt;
  }
  if (process_->said_too_much()) fail("it wrote more than can be of an agent of the doctor's");
  if (!process_->ended() || !failure_.empty()) return std::nullopt;
  const std::string said = process_->last_line_of_stderr();
  if (said.find("doctor") != std::string::npos && said.starts_with("tandem: ")) {
    fail("the tandem there, " + tool_ + ", is of another release and has no `tandem doctor` (" + said + ")");
  } else {
    fail(launch::why_agent_failed(host_.login, here_, process_->code(), said, tool_));
  }
  return std::nullopt;
}

void Session::end() {
  process_->close_input();
}

}  // namespace tandem::doctor
