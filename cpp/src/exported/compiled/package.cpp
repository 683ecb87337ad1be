#include "exported/compiled/package.h"

#include <ATen/cpu/Utils.h>
#include <fcntl.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <unordered_map>

#include "base/crc32c.h"
#include "base/descriptor.h"

namespace tandem::exported {
namespace {

constexpr std::string_view kModels = "data/aotinductor/", kModel = "data/aotinductor/model/";
constexpr std::string_view kLibrary = ".so";

// What LibTorch calls the instructions that AOTInductor has one word for.
std::vector<std::string> capabilities_of(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  if (word == "avx2") return {"avx2", "fma3"};
  if (word == "avx512") return {"avx512_f", "avx512_bw", "avx512_dq", "avx512_vl"};
  if (word == "asimd") return {"neon"};
  return {word};
}

bool processor_has(const std::string& instructions) {
  static const auto has = at::cpu::get_cpu_capabilities();
  const auto names = capabilities_of(instructions);
  return std::all_of(names.begin(), names.end(), [](const std::string& name) {
    const auto found = has.find(name);
    return found != has.end() && found->second.isBool() && found->second.toBool();
  });
}

}  // namespace

Package::Package(const std::string& path) : archive_(path) {
  std::vector<const weights::ZipMember*> libraries;
  std::string others;
  for (const weights::ZipMember& member : archive_.members()) {
    if (!member.name.starts_with(kModels)) continue;
    if (!member.name.starts_with(kModel)) {
      others += (others.empty() ? "" : ", ") + member.name.substr(0, 200);
      continue;
    }
    const std::string file = member.name.substr(kModel.size());
    if (file.find('/') != std::string::npos) continue;
    if (file.ends_with(kLibrary)) libraries.push_back(&member);
    if (file.ends_with(".json")) beside_.push_back(&member);
  }
  if (archive_.find("models/model.json") && libraries.empty()) {
    throw Error(ErrorCode::kInvalidArgument, name() + " is an archive of torch.export.save, which holds a graph; the compiled "
                                                      "side of a program is a package of torch._inductor.aoti_compile_and_package");
  }
  if (libraries.empty() && !others.empty()) {
    unsupported(name(), "has no model called 'model', which aoti_compile_and_package writes, but " + others);
  }
  if (libraries.empty()) {
    const bool has_sources = std::any_of(archive_.members().begin(), archive_.members().end(),
                                         [](const auto& member) { return member.name.starts_with(kModel); });
    if (!has_sources) damaged(name(), "is no package of AOTInductor: it has no " + std::string(kModel));
    unsupported(name(), "has no shared library but sources, which are not compiled here; make it without "
                        "aot_inductor.package_cpp_only");
  }
  if (libraries.size() > 1) unsupported(name(), "has several shared libraries in " + std::string(kModel));
  library_ = libraries.front();
  const std::string described =
      library_->name.substr(0, library_->name.size() - kLibrary.size()) + "_metadata.json";
  check_target(archive_.json(described), name() + ": " + described);
}

void Package::check_target(const Json& metadata, const std::string& where) const {
  const auto value = [&](const char* key) { return find(metadata, key) ? text(metadata, key, where) : ""; };
  const auto refuse = [&](const std::string& what) {
    unsupported(name(), what + "; compile it for this machine, or leave it out: the program's graph runs");
  };
  if (value("weights") != "shared") {
    unsupported(name(), std::string("may have values of weights in its code, where neither training nor loading weights would "
                                    "change them; compile it with ") + kSharedWeights);
  }
  const std::string device = value("AOTI_DEVICE_KEY");
  if (device.empty()) damaged(where, "does not say which device it was compiled for");
  if (device != "cpu") refuse("was compiled for the device '" + device.substr(0, 40) + "'; packages for the CPU are run");
  utsname host{};
  uname(&host);
  const std::string platform = value("AOTI_PLATFORM"), machine = value("AOTI_MACHINE");
  if (!platform.empty() && platform != "linux") refuse("was compiled for the platform '" + platform.substr(0, 40) + "'");
  if (!machine.empty() && machine != host.machine) {
    refuse("was compiled for processors of the kind " + machine.substr(0, 40) + ", and this is of " + host.machine);
  }
  std::istringstream words(value("AOTI_CPU_ISA"));
  for (std::string word; words >> word;) {
    if (word == "INVALID_VEC_ISA" || processor_has(word)) continue;
    refuse("has instructions that this processor lacks (" + word.substr(0, 40) + ")");
  }
}

std::string Package::extract(const std::string& folder) const {
  const auto write = [&](const weights::ZipMember& member) {
    const std::string_view content = archive_.bytes(member);
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
    if (member.crc != 0 && crc32(bytes) != member.crc) {
      archive_.check(member);
      damaged(name() + ": " + member.name, "is damaged: its checksum is another");
    }
    archive_.check(member);
    const std::string path = folder + "/" + member.name.substr(kModel.size());
    const Descriptor file = open_file(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!file.valid() || write_all(file.get(), bytes.data(), bytes.size()) != bytes.size()) {
      throw Error(ErrorCode::kIo, name() + " cannot be unpacked: " + path + ": " + std::strerror(errno) +
                                      "; TMPDIR names another folder for it");
    }
    return path;
  };
  for (const weights::ZipMember* member : beside_) write(*member);
  return write(*library_);
}

}  // namespace tandem::exported
