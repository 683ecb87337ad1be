#include "tandem/exported_program.h"

#include "exported/model.h"
#include "exported/part.h"

namespace tandem {

class ExportedProgram::Root final : public exported::Model {
 public:
  using exported::Model::Model;
  Root(const exported::Model& other) : exported::Model(other) {}
};

ExportedProgram::ExportedProgram() : nn::Module("ExportedProgram") {}
ExportedProgram::~ExportedProgram() = default;

std::unique_ptr<ExportedProgram> ExportedProgram::load(const std::string& path, const ExportedProgramOptions& options) {
  std::vector<std::shared_ptr<const exported::Program>> programs;
  const auto add = [&](const std::string& from) {
    programs.push_back(std::make_shared<const exported::Program>(std::make_shared<const exported::Archive>(from)));
  };
  add(path);
  if (!options.other_mode.empty()) add(options.other_mode);
  std::unique_ptr<ExportedProgram> made(new ExportedProgram());
  made->root_ = std::make_shared<Root>(std::move(programs));
  if (!options.compiled.empty()) made->root_->add_compiled(std::make_shared<const exported::Package>(options.compiled));
  return made;
}

std::vector<at::IValue> ExportedProgram::forward(at::ArrayRef<at::IValue> arguments) {
  at::IValue result = call(arguments);
  return result.isTuple() ? result.toTupleRef().elements().vec() : std::vector<at::IValue>{std::move(result)};
}

at::IValue ExportedProgram::call(at::ArrayRef<at::IValue> arguments) const {
  return root_->call(arguments);
}

torch::nn::Module& ExportedProgram::get() const {
  return *root_;
}

ExportedMode ExportedProgram::mode() const {
  return root_->program().mode();
}

std::vector<ExportedInput> ExportedProgram::inputs() const {
  return root_->program().inputs();
}

std::vector<std::unique_ptr<nn::Module>> ExportedProgram::parts(std::size_t least) const {
  return exported::Part::divide(*root_, least);
}

std::vector<std::pair<std::string, std::string>> ExportedProgram::tied() const {
  return root_->tied();
}

void ExportedProgram::save(const std::string& path) const {
  root_->save(path);
}

std::unique_ptr<nn::Module> ExportedProgram::copy() const {
  std::unique_ptr<ExportedProgram> made(new ExportedProgram());
  made->root_ = std::make_shared<Root>(static_cast<const exported::Model&>(*root_));
  return made;
}

}  // namespace tandem
