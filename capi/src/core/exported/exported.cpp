// Programs of torch.export.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/handles/handles.h"
#include "core/jit/script_values.h"
#include "core/operators/intra_op.h"
#include "core/operators/on_cpu.h"
#include "core/training/module_handle.h"
#include "tandem/exported_program.h"
#include "tandem/runtime.h"

namespace tandem::capi {
namespace {

const ExportedProgram& exported_of(const tdm_module* program) {
  const nn::Module& held = *not_null(program, "program")->module;
  if (const auto* const found = dynamic_cast<const ExportedProgram*>(&held)) return *found;
  invalid("argument 'program' is of type " + held.type() + ", and no exported program");
}

bool program_is_on_cpu(const torch::nn::Module& module, const std::vector<at::IValue>& arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](const at::IValue& one) { return is_on_cpu(one); }) &&
         is_on_cpu(module.parameters()) && is_on_cpu(module.buffers());
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_exported_load(const char* path, const tdm_exported_options* options, tdm_module** out) {
  return guard("tdm_exported_load", [&] {
    not_null(path, "path");
    not_null(out, "out");
    const auto given = read_options<tdm_exported_options>(options, TDM_EXPORTED_OPTIONS_INIT, "tdm_exported_options");
    tandem::ExportedProgramOptions how;
    if (given.other_mode) how.other_mode = given.other_mode;
    if (given.compiled) how.compiled = given.compiled;
    *out = new tdm_module(tandem::ExportedProgram::load(path, how));
  });
}

tdm_error* tdm_exported_call(tdm_module* program, const tdm_value* arguments, std::size_t argument_count,
                             tdm_value* out) {
  return guard("tdm_exported_call", [&] {
    not_null(program, "program");
    not_null(out, "out");
    check_count(argument_count, "arguments");
    if (argument_count != 0) not_null(arguments, "arguments");
    const auto& exported = exported_of(program);
    std::vector<at::IValue> values;
    for (std::size_t i = 0; i < argument_count; ++i) {
      values.push_back(to_script(arguments[i], "arguments[" + std::to_string(i) + "]"));
    }
    at::IValue result;
    run_large([&] { return program_is_on_cpu(exported.get(), values); }, [&] { result = exported.call(values); });
    if (!program->called.load(std::memory_order_relaxed)) {
      program->called.store(true, std::memory_order_relaxed);
      tandem::rearm_exit();
    }
    *out = from_script(result);
  });
}

tdm_error* tdm_exported_inputs(const tdm_module* program, tdm_strings** names, tdm_strings** descriptions) {
  return guard("tdm_exported_inputs", [&] {
    not_null(program, "program");
    not_null(names, "names");
    not_null(descriptions, "descriptions");
    const auto& exported = exported_of(program);
    std::vector<std::string> first, second;
    for (const tandem::ExportedInput& input : exported.inputs()) {
      first.push_back(input.name);
      second.push_back(input.description);
    }
    auto made = std::make_unique<tdm_strings>(std::move(first));
    *descriptions = new tdm_strings(std::move(second));
    *names = made.release();
  });
}

tdm_error* tdm_exported_save(const tdm_module* program, const char* path) {
  return guard("tdm_exported_save", [&] {
    not_null(program, "program");
    not_null(path, "path");
    exported_of(program).save(path);
  });
}

tdm_error* tdm_exported_parts(const tdm_module* program, std::int64_t least, tdm_module** parts,
                              std::size_t* part_count) {
  return guard("tdm_exported_parts", [&] {
    not_null(program, "program");
    const std::size_t room = *not_null(part_count, "part_count");
    check_count(room, "parts");
    if (room != 0) not_null(parts, "parts");
    if (least < 1) invalid("argument 'least' is " + std::to_string(least) + "; there is 1 part or more");
    auto made = exported_of(program).parts(static_cast<std::size_t>(least));
    if (made.size() <= room) {
      std::vector<std::unique_ptr<tdm_module>> handles;
      for (auto& part : made) handles.push_back(std::make_unique<tdm_module>(std::move(part)));
      for (std::size_t i = 0; i < handles.size(); ++i) parts[i] = handles[i].release();
    }
    *part_count = made.size();
  });
}
