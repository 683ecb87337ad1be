#include "launch/doctor/doctor_command.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "launch/doctor/examination.h"
#include "launch/doctor/hosts/agent.h"
#include "launch/doctor/hosts/hosts_examination.h"
#include "launch/doctor/library_probe.h"
#include "launch/doctor/page.h"
#include "launch/doctor/rank.h"
#include "launch/failure.h"
#include "launch/run_flags.h"
#include "launch/signals.h"

namespace tandem::doctor {
namespace {

struct Flags {
  launch::RunFlags run;  // those that say where the hosts are
  ExaminationOptions options;
  bool as_json = false;
  bool probes = false, is_agent = false;  // what the doctor starts
  std::string rank;
  std::vector<std::string> names;
};

int examine_this_machine(const Flags& flags) {
  const launch::Signals signals;
  Interruption interruption(signals);
  const Report report = examine_machine(flags.options, interruption, [&](const std::vector<Finding>& findings) {
    if (flags.as_json) return;
    std::fputs(lines_of(findings).c_str(), stdout);
    std::fflush(stdout);
  });
  const Count counted = count(report.findings);
  if (flags.as_json) {
    nlohmann::json json = report;
    json["ok"] = counted.problems == 0;
    std::puts(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    const Verdict verdict = counted.problems > 0   ? Verdict::kProblem
                            : counted.warnings > 0 ? Verdict::kWarning
                                                   : Verdict::kOk;
    std::fputs(lines_of({{"verdict", verdict, describe(counted), ""}}).c_str(), stdout);
  }
  return counted.problems > 0 ? 1 : 0;
}

}  // namespace

void add_doctor_command(CLI::App& app, const std::string& release, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  flags->options.release = release;
  launch::HostFlags& hosts = flags->run.hosts;
  CLI::App* doctor = app.add_subcommand(
      "doctor", "Look whether this machine, or several, can train: libraries, network, limits, a real all-reduce");
  doctor->add_option("-H,--hosts", hosts.hosts,
                     "HOST,…: look at these machines, by ssh, and whether they reach each other");
  doctor->add_option("--hostfile", hosts.hostfile, "a file that names them, a line each");
  doctor->add_option("-x,--export", hosts.exports, "NAME or NAME=VALUE: a variable for these machines; may be repeated")
      ->allow_extra_args(false)
      ->take_all();
  doctor->add_option("--remote-tandem", hosts.remote_tool, "where this tool is on them [at the same path as here]");
  doctor->add_option("--ssh-args", hosts.ssh_args,
                     "words for ssh, as '-p 2222'; TANDEM_SSH names another program than ssh");
  doctor->add_option("--rdzv-endpoint", flags->run.rdzv_endpoint,
                     "HOST:PORT, where agents of a launch are to meet [as tandem run -H chooses]");
  doctor->add_option("--libtandem", flags->options.libtandem,
                     "a libtandem.so to look at [the one that was installed with this tool]");
  doctor->add_option("--timeout", flags->options.seconds, "seconds for each check that starts processes [60]");
  doctor->add_flag("--quick", flags->options.is_quick, "without all-reduces, which start ranks");
  doctor->add_flag("--json", flags->as_json, "print findings as JSON");
  doctor->add_flag("--probe", flags->probes)->group("");
  doctor->add_option("--rank", flags->rank)->group("");
  doctor->add_flag("--agent", flags->is_agent)->group("");
  doctor->add_option("--resolve", flags->names)->group("")->allow_extra_args(false)->take_all();
  doctor->footer("The exit code is 1 where there is a problem.");
  doctor->callback([flags, exit_code] {
    if (!(flags->options.seconds > 0 && flags->options.seconds <= 3600)) {
      throw launch::Failure("--timeout has to be a number of seconds above 0, at most 3600");
    }
    if (flags->probes) {
      *exit_code = probe_library(flags->options.libtandem);
    } else if (!flags->rank.empty()) {
      *exit_code = be_rank(flags->rank, flags->options.libtandem, flags->options.seconds);
    } else if (!flags->names.empty()) {
      *exit_code = resolve_names(flags->names);
    } else if (flags->is_agent) {
      *exit_code = be_agent(flags->options);
    } else if (!hosts_are_named(flags->run)) {
      *exit_code = examine_this_machine(*flags);
    } else {
      *exit_code = examine_hosts(flags->run, flags->options, flags->as_json);
    }
  });
}

}  // namespace tandem::doctor
