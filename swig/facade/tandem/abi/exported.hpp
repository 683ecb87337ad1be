// Programs of torch.export, which are modules like others; see docs/exported-models.md.
#pragma once

#include <string>
#include <vector>

#include "tandem/abi/nn.hpp"

namespace tandem::abi {

// An archive of torch.export.save; `other_mode`: another one of the same model in its other mode, `compiled`: a package of
// AOTInductor, "" for none.
inline Module exported_load(const std::string& path, const std::string& other_mode, const std::string& compiled) {
  tdm_exported_options options = TDM_EXPORTED_OPTIONS_INIT;
  if (!other_mode.empty()) options.other_mode = other_mode.c_str();
  if (!compiled.empty()) options.compiled = compiled.c_str();
  tdm_module* made = nullptr;
  check(tdm_exported_load(path.c_str(), &options, &made));
  return Module::owned(made);
}
// One result.
inline Results exported_call(const Module& program, const Arguments& arguments) {
  Results result(1);
  check(tdm_exported_call(program.raw(), arguments.data(), arguments.size(), result.data()));
  return result;
}
// The names of the inputs, then what each must be.
inline std::vector<std::string> exported_inputs(const Module& program) {
  tdm_strings *names = nullptr, *descriptions = nullptr;
  check(tdm_exported_inputs(program.raw(), &names, &descriptions));
  std::vector<std::string> all = take_strings(names);
  for (std::string& one : take_strings(descriptions)) all.push_back(std::move(one));
  return all;
}
// Parts that run one after the other, see tdm_exported_parts(): at least `least`, or as many as there are.
inline std::vector<Module> exported_parts(const Module& program, int64_t least) {
  std::vector<tdm_module*> raw;
  size_t count = 0;
  do {  // they may be more the next time, if another thread had changed the program
    raw.resize(count);
    check(tdm_exported_parts(program.raw(), least, raw.data(), &count));
  } while (count > raw.size());
  std::vector<Module> parts;
  for (size_t i = 0; i < count; ++i) parts.push_back(Module::owned(raw[i]));
  return parts;
}
inline void exported_save(const Module& program, const std::string& path) {
  check(tdm_exported_save(program.raw(), path.c_str()));
}

}  // namespace tandem::abi
