#include "launch/doctor/examination.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/host.h"
#include "launch/doctor/interfaces.h"
#include "launch/doctor/library_probe.h"
#include "launch/doctor/machine.h"
#include "launch/doctor/rank.h"

namespace fs = std::filesystem;

namespace tandem::doctor {
namespace {

// By a process of its own: a file system whose server is gone does not answer. "" where it is there.
std::string why_no_folder(const ExaminationOptions& options, Interruption& interruption) {
  const double seconds = std::min(options.seconds, 10.0);
  const Outcome outcome = run_program({"/bin/sh", "-c", "cd -- \"$1\"", "sh", options.folder}, seconds, interruption,
                                      std::chrono::seconds(1));
  if (!outcome.has_ended) return "does not answer: its file system's server may be gone";
  return outcome.code == 0 ? "" : "is not there";
}

}  // namespace

Report examine_machine(const ExaminationOptions& options, Interruption& interruption,
                       const std::function<void(const std::vector<Finding>&)>& found) {
  Report report;
  std::size_t told = 0;
  const auto tell = [&] {
    const auto first = report.findings.begin() + static_cast<std::ptrdiff_t>(told);
    found(std::vector<Finding>(first, report.findings.end()));
    told = report.findings.size();
  };
  const auto add = [&](Finding finding) {
    report.findings.push_back(std::move(finding));
    tell();
  };
  std::error_code error;
  report.facts["host"] = host_name();
  report.facts["identity"] = host_identity();
  report.facts["tandem"] = options.release;
  add(ok("tandem", options.release + ", " + fs::read_symlink("/proc/self/exe", error).string()));
  if (!options.folder.empty()) {
    if (const std::string why = why_no_folder(options, interruption); !why.empty()) {
      add(problem("folder", options.folder + " " + why,
                  "launches work in the folder in which they are given: make it, or give them in another"));
    }
  }
  const Probed probed = examine_library(options.libtandem, options.release, options.seconds, interruption, &report);
  tell();
  add(examine_cpus());
  const Gpus gpus = find_gpus();
  const bool has_gpus = probed.gpus > 0;
  add(examine_gpus(gpus, probed.works, probed.gpus, report.facts["nccl"]));
  add(examine_network(interruption));
  add(examine_descriptors());
  add(examine_shm(probed.gpus));
  add(examine_locked_memory(has_gpus));
  if (options.is_quick) return report;
  for (const std::string backend : {"gloo", "shm"}) {
    const std::string topic = "all-reduce " + backend;
    add(probed.works ? all_reduce_here(backend, options.libtandem, options.seconds, interruption)
                     : warning(topic, "not tried, for LibTorch is not loaded", "see above"));
  }
  return report;
}

}  // namespace tandem::doctor
