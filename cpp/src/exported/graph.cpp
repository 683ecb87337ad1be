#include "exported/graph.h"

#include <c10/util/Exception.h>

#include <new>

namespace tandem::exported {
namespace {

constexpr std::ptrdiff_t kNoSlot = -1;

}  // namespace

Graph::Graph(const Json& graph, const std::string& where, Modes& modes) {
  Names names;
  for (const Json& input : list(graph, "inputs", where)) {
    input_names_.push_back(name_in_graph(input, where + ": inputs"));
    const std::string& name = input_names_.back();
    input_slots_.push_back(name.empty() ? kNoSlot : static_cast<std::ptrdiff_t>(names.add(name, where + ": inputs", one_of(input, where + ": inputs").first)));
  }
  for (const Json& node : list(graph, "nodes", where)) add_node(node, names, where, modes);
  std::vector<std::size_t> kept;
  for (const Json& output : list(graph, "outputs", where)) {
    outputs_.push_back(Operand::parse(output, nullptr, names, where + ": outputs"));
    outputs_.back().add_slots(kept);
  }
  slots_ = names.size();
  kinds_ = names.kinds();
  std::vector<bool> done(slots_, false);
  for (const std::size_t slot : kept) done[slot] = true;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    for (const std::size_t slot : nodes_[i].used) {
      if (!done[slot]) nodes_[i].last_used.push_back(slot);
      done[slot] = true;
    }
  }
}

void Graph::add_node(const Json& node, Names& names, const std::string& where, Modes& modes) {
  const std::string& target = text(node, "target", where);
  const Json* name = find(node, "name");
  Node made;
  made.description = "node " + (name ? "'" + text(*name, where) + "'" : std::to_string(nodes_.size())) + " (" +
                     target.substr(0, 200) + ")";
  const std::string here = where + ": " + made.description;
  const Json& outputs = list(node, "outputs", here);
  made.first_slot = names.size();
  Modes inner = modes;
  inner.in_place = false;
  const NodeParts parts{target, list(node, "inputs", here), names, here, inner, made.used, made.written, made.gives_views};
  made.step = make_control_flow_step(parts, outputs);
  if (made.step) {  // what its graphs do is not looked at
    made.gives_views = true;
    if (inner.in_place) made.written = made.used;
  }
  if (!made.step) made.step = make_operator_step(parts, outputs);
  if (!made.step) made.step = make_python_step(parts, outputs);
  if (!made.step) unsupported(here, "calls what is neither an operator nor arithmetic of sizes");
  inner.in_place |= modes.in_place;
  modes = inner;
  nodes_.push_back(std::move(made));
}

std::vector<at::IValue> Graph::run(std::vector<at::IValue> inputs, const DeviceChange& devices) const {
  Frame frame{std::vector<at::IValue>(slots_), devices};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (input_slots_[i] != kNoSlot) frame.slots[static_cast<std::size_t>(input_slots_[i])] = std::move(inputs[i]);
  }
  inputs.clear();
  run_nodes(0, nodes_.size(), frame);
  std::vector<at::IValue> results;
  for (const Operand& output : outputs_) results.push_back(output.value(frame));
  return results;
}

void Graph::run_nodes(std::size_t begin, std::size_t end, Frame& frame) const {
  for (std::size_t i = begin; i < end; ++i) {
    run_node(nodes_[i], frame);
    for (const std::size_t slot : nodes_[i].last_used) frame.slots[slot] = {};
  }
}

void Graph::run_node(const Node& node, Frame& frame) const {
  try {
    node.step->run(frame);
  } catch (const Error& error) {
    throw Error(error.code(), node.description + ": " + error.what());
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::NotImplementedError& error) {
    throw Error(ErrorCode::kUnsupported, node.description + ": " + error.what_without_backtrace());
  } catch (const c10::IndexError& error) {
    throw Error(ErrorCode::kOutOfRange, node.description + ": " + error.what_without_backtrace());
  } catch (const c10::Error& error) {
    throw Error(ErrorCode::kInvalidArgument, node.description + ": " + error.what_without_backtrace());
  }
}

}  // namespace tandem::exported
