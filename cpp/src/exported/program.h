// One graph of an archive, with what its inputs and outputs mean.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exported/archive.h"
#include "exported/graph.h"
#include "exported/input_check.h"
#include "exported/payload.h"
#include "exported/signature.h"
#include "exported/tree.h"
#include "tandem/exported_program.h"

namespace tandem::exported {

// Where the tensors of a model are: what a program reads and changes, by name.
class Tensors {
 public:
  virtual ~Tensors() = default;
  virtual at::Tensor at(const InputBinding& binding) const = 0;
};

// Immutable, and shared by the copies of a module.
class Program {
 public:
  explicit Program(std::shared_ptr<const Archive> archive);

  const std::shared_ptr<const Archive>& archive() const { return archive_; }
  const Signature& signature() const { return signature_; }
  ExportedMode mode() const;
  std::vector<ExportedInput> inputs() const;

  // Whether it changes user inputs, or has operators that change tensors in place.
  bool changes_in_place() const;
  // Whether it gives new values of parameters and buffers, as graphs without such operators do.
  bool writes_state() const;
  // How inputs and outputs nest: Tree::structure().
  const std::string& takes() const { return takes_; }
  std::string gives() const { return given_.structure(); }

  // A call's inputs.
  struct Call {
    std::vector<at::IValue> inputs;  // of the graph; None for those that the model has
    Symbols symbols;                 // the values of dynamic sizes
  };
  // Checks them. `any_real`: see InputCheck. Throws Error (kInvalidArgument).
  Call prepare(at::ArrayRef<at::IValue> arguments, bool any_real) const;
  // By the graph. Thread-safe.
  at::IValue run(Call call, const Tensors& tensors, const DeviceChange& devices) const;

  // Where the graph can be cut. Throws Error (kUnsupported) for a program that changes its inputs.
  std::vector<Graph::Cut> cuts() const;
  std::size_t nodes() const { return graph_->nodes(); }
  // What lies between two cuts, see Part. `used`: the inputs that it uses, of the last part also those that it gives.
  struct Span {
    Graph::Cut begin, end;
    std::vector<std::size_t> used;
  };
  Span between(Graph::Cut begin, Graph::Cut end) const;
  // `any_real`: as prepare() has it. Thread-safe.
  std::vector<at::IValue> run_part(const Span& span, at::ArrayRef<at::IValue> given, const Tensors& tensors,
                                   const DeviceChange& devices, bool any_real) const;

  // The user outputs as the Python module gave them.
  at::IValue nested(const std::vector<at::IValue>& outputs) const;

 private:
  struct Leaf {
    std::string name;
    at::IValue value;
    bool is_left_out;
  };
  struct UserInput {
    std::size_t input;                // of the graph
    std::unique_ptr<InputCheck> check;  // null: it is fixed
  };

  void parse_trees(const Json& module, const std::string& where);
  std::vector<Leaf> flatten(at::ArrayRef<at::IValue> arguments) const;
  std::string name_of(std::size_t argument) const;
  const Tree& tree_of(std::size_t argument) const;
  std::size_t arguments() const;
  Symbols check(const std::vector<Leaf>& leaves, bool any_real) const;
  void check_fixed(const Leaf& leaf, const at::IValue& fixed) const;
  // Of results that are None nothing.
  void write_back(const std::vector<at::IValue>& results, const std::vector<at::IValue>& inputs) const;
  std::optional<std::size_t> find_replaced(const OutputBinding& output) const;
  bool uses(const Graph::Cut& begin, const Graph::Cut& end, std::size_t input) const;
  bool is_there(std::size_t output, const Graph::Cut& begin, const Graph::Cut& end) const;

  const std::shared_ptr<const Archive> archive_;
  std::unique_ptr<const Graph> graph_;
  Modes modes_;
  Signature signature_;
  std::vector<std::optional<std::size_t>> replaced_;  // by each output: an input, whose new value it is
  Tree positional_, keywords_, given_;
  std::string takes_;
  std::vector<std::string> argument_names_;
  std::vector<UserInput> user_inputs_;  // in the order of the leaves
  std::map<std::string, Range> ranges_;
};

// Where an archive of one model has it.
inline constexpr const char* kModelMember = "models/model.json";
inline constexpr const char* kWeightsFolder = "data/weights/";
inline constexpr const char* kWeightsConfig = "model_weights_config.json";
inline constexpr const char* kConstantsFolder = "data/constants/";
inline constexpr const char* kConstantsConfig = "model_constants_config.json";

}  // namespace tandem::exported
