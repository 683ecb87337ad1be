#include "launch/doctor/library_probe.h"

#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "launch/doctor/library.h"
#include "launch/failure.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace tandem::doctor {
namespace {

constexpr std::int64_t kToMakeGroup = 10000, kToLeave = 5000;  // milliseconds

std::string mapped_file(const std::string& begin) {
  struct Search {
    const std::string& begin;
    std::string found;
  } search{begin, ""};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto& wanted = *static_cast<Search*>(out);
        const std::string path = info->dlpi_name ? info->dlpi_name : "";
        if (path.substr(path.rfind('/') + 1).starts_with(wanted.begin)) wanted.found = path;
        return 0;
      },
      &search);
  return search.found;
}

std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

// In the order in which libtandem looks for it.
std::string rule_of(const std::string& libtandem, const std::string& libtorch) {
  const char* named = std::getenv("TANDEM_LIBTORCH");
  if (named && *named) return "TANDEM_LIBTORCH names it";
  const fs::path own = fs::path(real_path(libtandem)).parent_path();
  std::string line;
  if (std::ifstream pointer(own / "libtandem.libtorch"); std::getline(pointer, line)) {
    return "libtandem.libtorch beside libtandem names it";
  }
  return libtorch.starts_with(own.string() + "/") ? "it is beside libtandem" : "it is among the system's libraries";
}

// "" where a group of this process alone can be made.
std::string why_no_group(const Library& library, const char* backend, tdm_device device) {
  tdm_store* store = nullptr;
  tdm_process_group* group = nullptr;
  try {
    library.check(library.store_hash(&store));
    tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
    options.backend = backend;
    options.rank = 0;
    options.world_size = 1;
    options.timeout_ms = kToMakeGroup;
    options.device = device;
    library.check(library.group_create(&options, store, &group));
  } catch (const launch::Failure& failure) {
    if (store) library.store_free(store);
    return failure.what();
  }
  library.group_free(group);
  library.store_free(store);
  return "";
}

// What the probe was at when it ended or was ended.
std::string stage_of(const Outcome& outcome) {
  std::string stage = "starting";
  for (const json& one : outcome.answers) stage = one.value("stage", stage);
  return stage;
}

const json* find_answer(const Outcome& outcome, const char* name) {
  for (const json& one : outcome.answers) {
    if (one.contains(name)) return &one;
  }
  return nullptr;
}

std::string text_of(const json* message, const char* name) {
  return message ? message->value(name, "") : "";
}

// "" while nothing went wrong.
std::string why_it_stopped(const Outcome& outcome, double seconds) {
  const std::string error = text_of(find_answer(outcome, "error"), "error");
  if (!error.empty()) return error;
  if (!outcome.has_ended)
    return stage_of(outcome) + " has not ended after " + std::to_string(std::lround(seconds)) + " s";
  if (outcome.code == 0) return "";
  const std::string said = outcome.last_line_of_stderr.empty() ? "" : " (" + outcome.last_line_of_stderr + ")";
  return stage_of(outcome) + ": the process " + outcome.end + said;
}

Finding backends_of(const json& found) {
  std::string there, missing;
  for (const char* name : {"gloo", "shm"}) {
    const std::string why = found.value(name, "unknown");
    (why.empty() ? there : missing) += ((why.empty() ? there : missing).empty() ? "" : ", ") + std::string(name) +
                                       (why.empty() ? "" : " (" + why + ")");
  }
  if (!missing.empty()) {
    return problem("backends", "there is no " + missing + (there.empty() ? "" : "; there is " + there),
                   "both are parts of the core and need nothing of their own; what the reason says is to be mended");
  }
  const std::string nccl = found.value("nccl", "unknown");
  const bool has_gpus = found.value("gpus", 0) > 0;
  if (nccl.empty()) return ok("backends", there + ", nccl");
  if (has_gpus) return problem("backends", there + "; no nccl, though LibTorch has a GPU: " + nccl, "");
  return ok("backends", there + "; no nccl: " + nccl);
}

}  // namespace

int probe_library(const std::string& path) {
  try {
    answer({{"stage", "opening libtandem"}});
    const FoundLibrary found = find_library(path);
    const Library library(found.path);
    answer({{"libtandem", library.path},
            {"because", found.because},
            {"version", library.version()},
            {"stage", "loading LibTorch"}});
    library.check(library.load(nullptr));
    const std::string libtorch = mapped_file("libtorch_cpu");
    const std::string folder = fs::path(libtorch).parent_path().string();
    std::error_code error;
    answer({{"libtorch", libtorch},
            {"version", library.libtorch_version()},
            {"core", mapped_file("libtandem_core-")},
            {"rule", rule_of(library.path, libtorch)},
            {"cuda", fs::exists(fs::path(folder) / "libtorch_cuda.so", error)},
            {"stage", "making groups of each backend"}});
    std::int32_t gpus = 0;
    library.check(library.cuda_device_count(&gpus));
    const tdm_device cpu{TDM_DEVICE_CPU, -1}, gpu{TDM_DEVICE_CUDA, 0};
    answer({{"gpus", gpus},
            {"gloo", why_no_group(library, "gloo", cpu)},
            {"shm", why_no_group(library, "shm", cpu)},
            {"nccl", why_no_group(library, "nccl", gpu)},
            {"stage", "leaving"}});
    library.check(library.shutdown(kToLeave));
    return 0;
  } catch (const launch::Failure& failure) {
    answer({{"error", failure.what()}});
    return 1;
  }
}

namespace {

// What the probe's answers mean. Throws json::exception where they are of other types.
Probed judge_probe(const Outcome& outcome, const std::string& release, double seconds, Report* report) {
  const std::string why = why_it_stopped(outcome, seconds);
  auto& findings = report->findings;
  Probed probed;

  const json* opened = find_answer(outcome, "libtandem");
  if (!opened) {
    findings.push_back(
        problem("libtandem", why.empty() ? "it did not answer" : why,
                "install libtandem and tandem from one release, into one folder; --libtandem FILE names another"));
    return probed;
  }
  const std::string version = text_of(opened, "version");
  report->facts["libtandem"] = version;
  const std::string at = version + ", " + text_of(opened, "libtandem"), because = text_of(opened, "because");
  if (version != release) {
    findings.push_back(
        problem("libtandem", at + ", but tandem is " + release + ": " + because, "install both from one release"));
  } else {
    findings.push_back(ok("libtandem", at + ": " + because));
  }

  const json* loaded = find_answer(outcome, "libtorch");
  if (!loaded) {
    const char* named = std::getenv("TANDEM_LIBTORCH");
    findings.push_back(problem("LibTorch", why,
                               named && *named ? "TANDEM_LIBTORCH is " + std::string(named)
                                               : "TANDEM_LIBTORCH=/absolute/folder names another"));
    return probed;
  }
  const std::string core = text_of(loaded, "core");
  report->facts["core"] = core.substr(core.rfind('/') + 1);
  report->facts["libtorch"] = text_of(loaded, "version");
  report->facts["build"] = loaded->value("cuda", false) ? "a build for CUDA" : "a build for CPUs";
  findings.push_back(ok("core", report->facts["core"]));
  findings.push_back(ok("LibTorch", report->facts["libtorch"] + ", " + report->facts["build"] + ", " +
                                        text_of(loaded, "libtorch") + ": " + text_of(loaded, "rule")));
  probed.works = true;
  if (const json* backends = find_answer(outcome, "gloo")) {
    probed.gpus = backends->value("gpus", 0);
    report->facts["gpus"] = std::to_string(probed.gpus);
    probed.has_nccl = backends->value("nccl", "no").empty();
    report->facts["nccl"] = backends->value("nccl", "");
    findings.push_back(backends_of(*backends));
  }
  if (!why.empty()) {
    findings.push_back(problem("backends", why, ""));
    probed.works = false;
  }
  return probed;
}

}  // namespace

Probed examine_library(const std::string& library, const std::string& release, double seconds,
                       Interruption& interruption, Report* report) {
  std::vector<std::string> command = {"/proc/self/exe", "doctor", "--probe"};
  if (!library.empty()) command.push_back("--libtandem=" + library);
  const Outcome outcome = run_program(command, seconds, interruption);
  try {
    return judge_probe(outcome, release, seconds, report);
  } catch (const json::exception& error) {
    report->findings.push_back(problem("libtandem", std::string("its probe's answer makes no sense: ") + error.what(),
                                       "install libtandem and tandem from one release"));
    return {};
  }
}

}  // namespace tandem::doctor
