// A graph of an exported program, made ready to run.
#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exported/operand.h"
#include "exported/results.h"

namespace tandem::exported {

// Which values of `training` the nodes have, and whether one changes a tensor in place.
struct Modes {
  bool training = false, evaluation = false, in_place = false;
};

// What one node does.
class Step {
 public:
  virtual ~Step() = default;
  virtual void run(Frame& frame) const = 0;
};

class Graph {
 public:
  // Every name and operator is looked up, so that what is not there is told here. `modes` is added to. Throws
  // tandem::Error: kDataLoss, kUnsupported.
  Graph(const Json& graph, const std::string& where, Modes& modes);

  // Names of the inputs, "" for constants.
  const std::vector<std::string>& inputs() const { return input_names_; }
  std::size_t outputs() const { return outputs_.size(); }

  // Thread-safe. Values are let go once no node needs them. Throws tandem::Error, which names the node.
  std::vector<at::IValue> run(std::vector<at::IValue> inputs, const DeviceChange& devices) const;

  // --- in parts: nodes `begin` to `end` - 1, in a frame of slots() that has what they read
  std::size_t nodes() const { return nodes_.size(); }
  std::size_t slots() const { return slots_; }
  SlotKind kind(std::size_t slot) const { return kinds_[slot]; }
  // -1 for an input without a name.
  std::ptrdiff_t slot_of_input(std::size_t input) const { return input_slots_[input]; }
  void run_nodes(std::size_t begin, std::size_t end, Frame& frame) const;
  bool reads(std::size_t begin, std::size_t end, std::size_t slot) const;
  bool gives(std::size_t output, std::size_t slot) const;
  at::IValue output(std::size_t i, const Frame& frame) const { return outputs_[i].value(frame); }
  // The nodes from which on all that an output is made of is there.
  std::size_t output_is_there(std::size_t i) const;

  // Where it can be cut, before a node: by what crosses the cut.
  struct Cut {
    std::size_t node = 0;
    std::vector<std::size_t> slots;
  };
  // `own`: inputs that every part has by itself. `replaces`: outputs that are new values of such inputs. No cut lies between
  // two uses of memory that is changed.
  std::vector<Cut> cuts(const std::vector<bool>& own,
                        const std::vector<std::pair<std::size_t, std::size_t>>& replaces) const;

 private:
  struct Node {
    std::string description;  // for errors: "node 'conv2d' (torch.ops.aten.conv2d.default)"
    std::unique_ptr<Step> step;
    std::vector<std::size_t> last_used;
    std::vector<std::size_t> used, written;  // slots
    bool gives_views = false;                // of what it reads, or may
    std::size_t first_slot = 0;              // of those that it gives; the next node's come after them
  };

  void add_node(const Json& node, Names& names, const std::string& where, Modes& modes);
  // Before which node a slot is there; 0 for inputs.
  std::size_t there_before(std::size_t slot) const;
  void run_node(const Node& node, Frame& frame) const;

  std::vector<std::string> input_names_;
  std::vector<std::ptrdiff_t> input_slots_;
  std::vector<Node> nodes_;
  std::vector<Operand> outputs_;
  std::vector<SlotKind> kinds_;
  std::size_t slots_ = 0;
};

// What a node has, for who makes its step.
struct NodeParts {
  const std::string& target;
  const Json& inputs;  // a list of NamedArgument
  Names& names;
  const std::string& where;
  Modes& modes;
  std::vector<std::size_t>& reads;  // the slots that it reads, to be added to
  std::vector<std::size_t>& writes;  // those whose tensors it changes in place
  bool& gives_views;                 // whether what it gives may be the memory of what it reads

  Operand operand(const Json& argument, const c10::TypePtr& type = nullptr) const {
    Operand made = Operand::parse(argument, type, names, where);
    made.add_slots(reads);
    return made;
  }
};

// Steps of a kind each; null where the target is none of it. `outputs` is read after the inputs: a node does not see
// what it gives.
std::unique_ptr<Step> make_operator_step(const NodeParts& parts, const Json& outputs);
std::unique_ptr<Step> make_control_flow_step(const NodeParts& parts, const Json& outputs);
std::unique_ptr<Step> make_python_step(const NodeParts& parts, const Json& outputs);

}  // namespace tandem::exported
