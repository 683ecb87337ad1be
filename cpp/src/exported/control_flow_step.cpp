// Nodes that run a graph of their own: in another mode, or as often as a condition says.
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>

#include "exported/graph.h"

namespace tandem::exported {
namespace {

constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";

std::vector<at::IValue> values_of(const std::vector<Operand>& operands, const Frame& frame) {
  std::vector<at::IValue> values;
  for (const Operand& operand : operands) values.push_back(operand.value(frame));
  return values;
}

// The elements of an operand that is a list.
std::vector<at::IValue> elements_of(const Operand& operand, const Frame& frame) {
  const at::IValue list = operand.value(frame);
  if (!list.isList()) return {list};
  return list.toListRef().vec();
}

bool holds(const at::IValue& condition) {
  if (condition.isTensor()) return condition.toTensor().item().toBool();
  return condition.isBool() ? condition.toBool() : condition.toInt() != 0;
}

std::vector<at::IValue> run_graph(const Graph& graph, std::vector<at::IValue> inputs, const Frame& frame) {
  if (inputs.size() != graph.inputs().size()) {
    throw Error(ErrorCode::kDataLoss, "gives its graph " + std::to_string(inputs.size()) + " values, and that takes " +
                                          std::to_string(graph.inputs().size()));
  }
  return graph.run(std::move(inputs), frame.devices);
}

// A cached cast of a parameter does not know whether it was recorded for backward.
void forget_casts() {
  if (at::autocast::is_autocast_enabled(at::kCPU) || at::autocast::is_autocast_enabled(at::kCUDA)) {
    at::autocast::clear_cache();
  }
}

struct GradMode {
  explicit GradMode(bool enabled) : guard(enabled) { forget_casts(); }
  ~GradMode() { forget_casts(); }
  at::AutoGradMode guard;
};

struct AutocastMode {
  AutocastMode(at::DeviceType device, std::optional<at::ScalarType> dtype, bool enabled)
      : device(device),
        enabled_before(at::autocast::is_autocast_enabled(device)),
        dtype_before(at::autocast::get_autocast_dtype(device)) {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device, enabled);
    if (dtype) at::autocast::set_autocast_dtype(device, *dtype);
  }
  ~AutocastMode() {
    at::autocast::set_autocast_enabled(device, enabled_before);
    at::autocast::set_autocast_dtype(device, dtype_before);
    at::autocast::clear_cache();
  }
  const at::DeviceType device;
  const bool enabled_before;
  const at::ScalarType dtype_before;
};

// Reads a node's arguments, which have no names.
class ArgumentReader {
 public:
  explicit ArgumentReader(const NodeParts& parts) : parts_(parts) {}

  Operand operand() { return parts_.operand(next()); }
  std::vector<Operand> rest() {
    std::vector<Operand> operands;
    while (next_ < parts_.inputs.size()) operands.push_back(operand());
    return operands;
  }
  at::IValue constant() {
    const Operand made = operand();
    if (!made.if_constant()) damaged(parts_.where, "has a value in the place of a constant");
    return *made.if_constant();
  }
  bool flag() {
    const at::IValue value = constant();
    if (!value.isBool()) damaged(parts_.where, "has no true or false where one must be");
    return value.toBool();
  }
  std::unique_ptr<const Graph> graph() {
    const auto [kind, content] = one_of(next(), parts_.where);
    if (kind != "as_graph") damaged(parts_.where, "has no graph where one must be");
    const std::string name = text(content, "name", parts_.where);
    return std::make_unique<const Graph>(member(content, "graph", parts_.where), parts_.where + ": graph '" + name + "'",
                                         parts_.modes);
  }

 private:
  const Json& next() {
    if (next_ == parts_.inputs.size()) damaged(parts_.where, "has too few arguments");
    return member(parts_.inputs[next_++], "arg", parts_.where);
  }

  const NodeParts& parts_;
  std::size_t next_ = 0;
};

class ControlFlowStep : public Step {
 public:
  void finish(const NodeParts& parts, const Json& outputs) {
    results_ = Results::parse(outputs, parts.names, parts.where);
    results_.add_slots(parts.reads);
  }
  void run(Frame& frame) const final { results_.put_flat(compute(frame), frame); }

 private:
  virtual std::vector<at::IValue> compute(const Frame& frame) const = 0;
  Results results_;
};

class InGradMode final : public ControlFlowStep {
 public:
  explicit InGradMode(ArgumentReader& reader)
      : enabled_(reader.flag()), graph_(reader.graph()), operands_(reader.rest()) {}

 private:
  std::vector<at::IValue> compute(const Frame& frame) const override {
    const GradMode mode(enabled_);
    return run_graph(*graph_, values_of(operands_, frame), frame);
  }
  const bool enabled_;
  const std::unique_ptr<const Graph> graph_;
  const std::vector<Operand> operands_;
};

class UnderAutocast final : public ControlFlowStep {
 public:
  UnderAutocast(ArgumentReader& reader, const std::string& where)
      : device_(device_of(reader.constant(), where)),
        dtype_(dtype_of(reader.constant())),
        enabled_(reader.flag()),
        cache_(reader.constant()),
        graph_(reader.graph()),
        operands_(reader.rest()) {}

 private:
  static at::DeviceType device_of(const at::IValue& name, const std::string& where) {
    if (name.isString() && name.toStringRef() == "cpu") return at::kCPU;
    if (name.isString() && name.toStringRef() == "cuda") return at::kCUDA;
    unsupported(where, "wants autocast on another device than cpu and cuda");
  }
  static std::optional<at::ScalarType> dtype_of(const at::IValue& value) {
    return value.isInt() ? std::optional(static_cast<at::ScalarType>(value.toInt())) : std::nullopt;
  }

  std::vector<at::IValue> compute(const Frame& frame) const override {
    const bool moved = device_ == frame.devices.exported.type();
    const AutocastMode mode(moved ? frame.devices.present.type() : device_, dtype_, enabled_);
    return run_graph(*graph_, values_of(operands_, frame), frame);
  }
  const at::DeviceType device_;
  const std::optional<at::ScalarType> dtype_;
  const bool enabled_;
  const at::IValue cache_;  // whether casts are kept within the region: they are, and the result is the same
  const std::unique_ptr<const Graph> graph_;
  const std::vector<Operand> operands_;
};

class Condition final : public ControlFlowStep {
 public:
  explicit Condition(ArgumentReader& reader)
      : condition_(reader.operand()), if_true_(reader.graph()), if_false_(reader.graph()), operands_(reader.operand()) {}

 private:
  std::vector<at::IValue> compute(const Frame& frame) const override {
    const Graph& taken = holds(condition_.value(frame)) ? *if_true_ : *if_false_;
    return run_graph(taken, elements_of(operands_, frame), frame);
  }
  const Operand condition_;
  const std::unique_ptr<const Graph> if_true_, if_false_;
  const Operand operands_;
};

class Loop final : public ControlFlowStep {
 public:
  explicit Loop(ArgumentReader& reader)
      : condition_(reader.graph()), body_(reader.graph()), carried_(reader.operand()), additional_(reader.operand()) {}

 private:
  std::vector<at::IValue> compute(const Frame& frame) const override {
    std::vector<at::IValue> carried = elements_of(carried_, frame);
    const std::vector<at::IValue> additional = elements_of(additional_, frame);
    const auto inputs = [&] {
      std::vector<at::IValue> all = carried;
      all.insert(all.end(), additional.begin(), additional.end());
      return all;
    };
    for (;;) {
      const auto condition = run_graph(*condition_, inputs(), frame);
      if (condition.empty() || !holds(condition.front())) return carried;
      auto next = run_graph(*body_, inputs(), frame);
      if (next.size() != carried.size()) {
        throw Error(ErrorCode::kDataLoss, "has a body that gives other values than it takes");
      }
      carried = std::move(next);
    }
  }
  const std::unique_ptr<const Graph> condition_, body_;
  const Operand carried_, additional_;
};

// A graph that is called from several places.
class Called final : public ControlFlowStep {
 public:
  explicit Called(ArgumentReader& reader)
      : graph_(reader.graph()), identifier_(reader.constant()), operands_(reader.rest()) {}

 private:
  std::vector<at::IValue> compute(const Frame& frame) const override {
    return run_graph(*graph_, values_of(operands_, frame), frame);
  }
  const std::unique_ptr<const Graph> graph_;
  const at::IValue identifier_;
  const std::vector<Operand> operands_;
};

}  // namespace

std::unique_ptr<Step> make_control_flow_step(const NodeParts& parts, const Json& outputs) {
  if (!parts.target.starts_with(kHigherOrder)) return nullptr;
  const std::string_view kind = std::string_view(parts.target).substr(kHigherOrder.size());
  ArgumentReader reader(parts);
  std::unique_ptr<ControlFlowStep> step;
  if (kind == "wrap_with_set_grad_enabled") {
    step = std::make_unique<InGradMode>(reader);
  } else if (kind == "wrap_with_autocast") {
    step = std::make_unique<UnderAutocast>(reader, parts.where);
  } else if (kind == "cond") {
    step = std::make_unique<Condition>(reader);
  } else if (kind == "while_loop") {
    step = std::make_unique<Loop>(reader);
  } else if (kind == "invoke_subgraph") {
    step = std::make_unique<Called>(reader);
  } else {
    unsupported(parts.where, "is an operator on functions that is not supported; cond, while_loop, invoke_subgraph, and "
                             "regions of autocast and no_grad are");
  }
  step->finish(parts, outputs);
  return step;
}

}  // namespace tandem::exported
