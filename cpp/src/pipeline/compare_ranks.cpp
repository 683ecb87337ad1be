// That all ranks run the same pipeline, found out before the first step.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/invalid.h"
#include "pipeline/parts.h"

namespace tandem {
namespace {

// Of names and numbers, which may hold any character.
class Fields {
 public:
  Fields() = default;
  explicit Fields(std::string text) : text_(std::move(text)) {}
  void put(const std::string& field) { text_ += std::to_string(field.size()) + ":" + field; }
  void put(std::int64_t number) { put(std::to_string(number)); }
  std::string get() {
    const auto colon = text_.find(':', at_);
    if (colon == std::string::npos) broken();
    std::size_t size = 0;
    for (; at_ < colon; ++at_) {
      if (text_[at_] < '0' || text_[at_] > '9' || size > text_.size()) broken();
      size = size * 10 + static_cast<std::size_t>(text_[at_] - '0');
    }
    ++at_;
    if (size > text_.size() - at_) broken();
    at_ += size;
    return text_.substr(at_ - size, size);
  }
  std::int64_t number() {
    std::istringstream in(get());
    std::int64_t value = 0;
    if (!(in >> value)) broken();
    return value;
  }
  const std::string& text() const { return text_; }

 private:
  [[noreturn]] static void broken() {
    throw Error(ErrorCode::kDataLoss,
                "what another rank says of its pipeline stages cannot be read; run the same version on all ranks");
  }
  std::string text_;
  std::size_t at_ = 0;
};

struct Parameter {
  std::string name, shape;
  bool tied = false;
};
struct Said {
  std::int64_t code = 0;
  std::string fault;  // what is wrong on that rank alone, which says nothing else then
  std::string schedule;
  int pipeline_rank = 0;
  std::vector<std::pair<int, std::vector<Parameter>>> stages;
};

std::string shown(const DataParallelOptions& options) {
  std::string text;
  const auto add = [&text](bool on, const char* name) {
    if (on) text += std::string(" and ") + name;
  };
  add(options.average_by_samples, "average_by_samples");
  add(options.static_graph, "static_graph");
  add(options.find_unused_parameters, "find_unused_parameters");
  add(!options.broadcast_buffers, "buffers of their own");
  const MixedPrecision& precision = options.mixed_precision;
  add(precision.param_dtype || precision.reduce_dtype || precision.buffer_dtype, "mixed_precision");
  return text;
}

std::string shown(const PipelineSchedule& schedule, bool average_losses, int ranks, const PipelineOptions& options) {
  std::string order;
  for (const auto& actions : schedule.actions) {
    for (const PipelineAction& action : actions) {
      order += (action.kind == PipelineAction::Kind::kForward ? "F" : "B") + std::to_string(action.stage) + "." +
               std::to_string(action.micro_batch) + " ";
    }
    order += "/ ";
  }
  return "'" + schedule.name + "' of " + std::to_string(schedule.stages()) + " stages on " + std::to_string(ranks) +
         " ranks, " + std::to_string(schedule.micro_batches) + " micro-batches, " +
         (average_losses ? "averaging" : "adding") + " losses, " + (options.replicas ? "with" : "without") +
         " replicas" + shown(options.data_parallel) + "\n" + order;
}

// Without the order of actions, which is long.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string fault_of(ProcessGroup& group, ProcessGroup& everyone, const std::vector<PipelineStage>& stages,
                     const PipelineOptions& options) {
  try {
    verify(options.schedule);
  } catch (const Error& error) {
    return error.what();
  }
  const PipelineSchedule& schedule = options.schedule;
  if (schedule.ranks() != group.size()) {
    return "the schedule '" + schedule.name + "' is for " + std::to_string(schedule.ranks()) + " ranks, the group has " +
           std::to_string(group.size());
  }
  if (options.replicas && std::int64_t{group.size()} * options.replicas->size() != everyone.size()) {
    return "the pipeline has " + std::to_string(group.size()) + " ranks and " + std::to_string(options.replicas->size()) +
           " replicas, but all of them together are " + std::to_string(everyone.size()) + " ranks";
  }
  std::set<int> own;
  for (const PipelineStage& stage : stages) {
    const std::string name = "stage " + std::to_string(stage.index);
    if (!own.insert(stage.index).second) return name + " is given twice";
    if (!stage.forward) return name + " has no forward function";
    for (const auto& [parameter, tensor] : stage.parameters) {
      if (!tensor.defined()) return name + " has no tensor for its parameter '" + parameter + "'";
    }
    for (const auto& [buffer, tensor] : stage.buffers) {
      if (!tensor.defined()) return name + " has no tensor for its buffer '" + buffer + "'";
    }
    for (const std::string& tied : stage.tied) {
      const auto is_it = [&](const auto& one) { return one.first == tied; };
      if (std::ranges::none_of(stage.parameters, is_it) && std::ranges::none_of(stage.buffers, is_it)) {
        return name + " has no parameter '" + tied + "', which is to be tied";
      }
    }
  }
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    if ((schedule.rank_of_stage[stage] == group.rank()) == own.contains(stage)) continue;
    if (own.erase(stage) > 0) {
      return "stage " + std::to_string(stage) + " is given, which the schedule has on rank " +
             std::to_string(schedule.rank_of_stage[stage]);
    }
    return "stage " + std::to_string(stage) + " is missing, which the schedule has on this rank";
  }
  if (!own.empty() && *own.rbegin() >= schedule.stages()) {
    return "stage " + std::to_string(*own.rbegin()) + " is given; the schedule has " + std::to_string(schedule.stages());
  }
  if (!own.empty() && *own.begin() < 0) return "stage " + std::to_string(*own.begin()) + " is given";
  if (own.contains(schedule.stages() - 1) && !options.loss) return "the last stage needs a loss";
  return "";
}

Said parse(const std::string& text) {
  Fields fields(text);
  Said said;
  said.code = fields.number();
  said.fault = fields.get();
  if (said.code != 0) return said;
  said.schedule = fields.get();
  said.pipeline_rank = static_cast<int>(fields.number());
  for (std::int64_t stages = fields.number(); stages > 0; --stages) {
    said.stages.emplace_back(static_cast<int>(fields.number()), std::vector<Parameter>());
    for (std::int64_t parameters = fields.number(); parameters > 0; --parameters) {
      Parameter one;
      one.name = fields.get();
      one.shape = fields.get();
      one.tied = fields.number() != 0;
      said.stages.back().second.push_back(std::move(one));
    }
  }
  return said;
}

// Of a tied parameter whose gradients cannot be summed.
std::string sparse_tied(const std::vector<PipelineStage>& stages) {
  for (const PipelineStage& stage : stages) {
    for (std::size_t i = 0; i < std::min(stage.parameters.size(), stage.sparse_gradients.size()); ++i) {
      const std::string& name = stage.parameters[i].first;
      if (!stage.sparse_gradients[i] || std::ranges::find(stage.tied, name) == stage.tied.end()) continue;
      return "stage " + std::to_string(stage.index) + " has the tied parameter '" + name +
             "' with sparse gradients, which are not summed; make the embedding without sparse gradients";
    }
  }
  return "";
}

std::string say(ProcessGroup& group, ProcessGroup& everyone, const std::vector<PipelineStage>& stages,
                const PipelineOptions& options) {
  Fields fields;
  const auto say_fault = [&fields](ErrorCode code, const std::string& text) {
    fields.put(static_cast<std::int64_t>(code));
    fields.put(text);
    return fields.text();
  };
  if (options.fault) return say_fault(options.fault->code(), options.fault->what());
  if (const auto text = fault_of(group, everyone, stages, options); !text.empty()) {
    return say_fault(ErrorCode::kInvalidArgument, text);
  }
  if (const auto text = sparse_tied(stages); !text.empty()) return say_fault(ErrorCode::kUnsupported, text);
  fields.put(0);
  fields.put("");
  fields.put(shown(options.schedule, options.average_losses, group.size(), options));
  fields.put(group.rank());
  fields.put(static_cast<std::int64_t>(stages.size()));
  for (const PipelineStage& stage : stages) {
    fields.put(stage.index);
    fields.put(static_cast<std::int64_t>(stage.parameters.size() + stage.buffers.size()));
    const auto put = [&](const std::string& name, const at::Tensor& tensor, const char* more) {
      std::ostringstream shape;
      shape << tensor.scalar_type() << " " << tensor.sizes() << more;
      fields.put(name);
      fields.put(shape.str());
      fields.put(std::ranges::find(stage.tied, name) != stage.tied.end() ? 1 : 0);
    };
    for (const auto& [name, tensor] : stage.parameters) {
      put(name, tensor, tensor.requires_grad() ? "" : " without gradient");
    }
    for (const auto& [name, tensor] : stage.buffers) put(name, tensor, ", a buffer");
  }
  return fields.text();
}

}  // namespace

std::vector<std::vector<std::string>> compare_ranks(ProcessGroup& group, ProcessGroup& everyone,
                                                    const std::vector<PipelineStage>& stages,
                                                    const PipelineOptions& options) {
  const std::vector<std::string> texts = everyone.all_gather_bytes(say(group, everyone, stages, options));
  std::vector<Said> all;
  for (const std::string& text : texts) all.push_back(parse(text));
  // Of the first replica each stage's, which the others must have too.
  std::map<int, const std::vector<Parameter>*> of_stage;
  std::map<std::string, std::pair<int, const Parameter*>> seen;
  // What is wrong on one rank alone comes first: it may have said nothing else.
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].code == 0) continue;
    throw Error(static_cast<ErrorCode>(all[rank].code), "pipeline, rank " + std::to_string(rank) + ": " + all[rank].fault);
  }
  std::vector<std::vector<std::string>> tied(options.schedule.stages());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Said& said = all[rank];
    const std::string who = "pipeline, rank " + std::to_string(rank) + ": ";
    if (said.schedule != all[0].schedule) {
      const std::string mine = first_line(said.schedule), first = first_line(all[0].schedule);
      invalid(who + "its schedule is " + mine + ", that of rank 0 " +
              (mine == first ? "has the same numbers and another order of actions" : first) +
              "; all ranks must give the same");
    }
    for (const auto& [stage, parameters] : said.stages) {
      const std::string where = who + "stage " + std::to_string(stage) + " ";
      if (const auto known = of_stage.find(stage); known != of_stage.end()) {
        const auto alike = [](const Parameter& a, const Parameter& b) {
          return a.name == b.name && a.shape == b.shape && a.tied == b.tied;
        };
        if (!std::ranges::equal(*known->second, parameters, alike)) {
          invalid(where + "has other parameters or buffers than the same stage of another replica");
        }
        continue;
      }
      of_stage[stage] = &parameters;
      for (const Parameter& one : parameters) {
        const auto [place, is_new] = seen.try_emplace(one.name, stage, &one);
        const auto& [other_stage, other] = place->second;
        const std::string both =
            where + "has the parameter '" + one.name + "', and so has stage " + std::to_string(other_stage);
        if (one.tied) tied[stage].push_back(one.name);
        if (is_new) continue;
        if (!one.tied || !other->tied) {
          invalid(both + "; cut the model so that each is in one stage, or name it in `tied` of both");
        }
        if (one.shape != other->shape) invalid(both + ": one is " + one.shape + ", the other " + other->shape);
      }
    }
  }
  for (std::size_t stage = 0; stage < tied.size(); ++stage) {
    for (const std::string& name : tied[stage]) {
      const auto has_it = [&name](const auto& names) { return std::ranges::find(names, name) != names.end(); };
      if (std::ranges::count_if(tied, has_it) > 1) continue;
      invalid("pipeline: only stage " + std::to_string(stage) + " has the tied parameter '" + name +
              "'; give it in another stage under the same name, or do not name it in `tied`");
    }
  }
  return tied;
}

}  // namespace tandem
