// What checkpoints have of tables.
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <sstream>

#include "base/invalid.h"
#include "parameter_server/client.h"
#include "parameter_server/table.h"

namespace tandem::parameter_server {
namespace {

constexpr std::int64_t kBytesAtATime = std::int64_t{16} << 20;

// Of rows, those of part `part`.
struct Range {
  std::int64_t begin, end;
};

Range range_of(std::int64_t rows, int part, int parts) {
  const auto begin = [&](std::int64_t i) { return i * (rows / parts) + std::min(i, rows % parts); };
  return {begin(part), begin(part + 1)};
}

void check_part(int part, int parts) {
  if (parts >= 1 && part >= 0 && part < parts) return;
  invalid("part " + std::to_string(part) + " of " + std::to_string(parts) + " makes no sense");
}

std::int64_t rows_at_a_time(const EmbeddingTable& table) {
  return std::max<std::int64_t>(1, kBytesAtATime / (table.width * static_cast<std::int64_t>(at::elementSize(table.dtype))));
}

const NamedTensors& section_of(const Checkpoint& checkpoint, const char* name) {
  static const NamedTensors none;
  const auto found = checkpoint.sections.find(name);
  return found == checkpoint.sections.end() ? none : found->second;
}

const at::Tensor* find_in(const NamedTensors& tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, [](const auto& one) { return one.first; });
  return found == tensors.end() ? nullptr : &found->second;
}

// Under which optimizer a table or dense parameter was saved: "users.optimizer", its name as bytes.
constexpr const char* kOptimizer = "optimizer";

OwnTensor optimizer_entry(const std::string& of, const std::string& type) {
  const at::Tensor name = at::empty({static_cast<std::int64_t>(type.size())}, at::kByte);
  std::ranges::copy(type, name.mutable_data_ptr<std::uint8_t>());
  return {of + "." + kOptimizer, name};
}

std::string optimizer_in(const at::Tensor& entry) {
  if (entry.scalar_type() != at::kByte || entry.dim() != 1) return "no optimizer's name";
  const at::Tensor name = entry.contiguous();
  return {reinterpret_cast<const char*>(name.const_data_ptr<std::uint8_t>()), static_cast<std::size_t>(name.numel())};
}

// "users.exp_avg" is of "users"; states have no dot in their names.
std::string owner_of(const std::string& state, const std::map<std::string, std::int64_t>& names) {
  const std::string name = state.substr(0, state.rfind('.'));
  return name != state && names.contains(name) ? name : "";
}

}  // namespace

void Client::read_table(const std::string& name, int part, int parts,
                        std::map<std::string, std::vector<OwnTensor>>& sections) const {
  const Embedding& embedding = embeddings_.at(name);
  const EmbeddingTable& table = embedding.table;
  const Range range = range_of(table.rows, part, parts);
  if (range.begin == range.end) return;
  std::map<std::string, at::Tensor> by_row, numbers;
  for (std::int64_t begin = range.begin; begin < range.end; begin += rows_at_a_time(table)) {
    const at::Tensor rows = at::arange(begin, std::min(range.end, begin + rows_at_a_time(table)), at::kLong);
    const auto spread_rows = spread(embedding, rows);
    std::vector<rpc::Future> calls;
    for (const OnServer& some : spread_rows) {
      calls.push_back(call_server(some.server, kReadState, {self_, name, some.places}));
    }
    const auto answers = wait_for_all(calls);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      for (const auto& [state, tensor] : named_tensors_from(answers[i])) {
        if (tensor.dim() != 2) {
          numbers.emplace(state, tensor);
          continue;
        }
        auto [place, is_new] = by_row.try_emplace(state);
        if (is_new) place->second = at::zeros({range.end - range.begin, table.width}, tensor.options());
        place->second.index_copy_(0, spread_rows[i].positions + (begin - range.begin), tensor);
      }
    }
  }
  for (const auto& [state, tensor] : by_row) {
    OwnTensor own{state == kValues ? name : name + "." + state, tensor};
    if (parts > 1) {
      own.whole = {table.rows, table.width};
      own.begin = {range.begin, 0};
    }
    sections[state == kValues ? kTables : kTableOptimizers].push_back(std::move(own));
  }
  if (part != 0) return;
  sections[kTableOptimizers].push_back(optimizer_entry(name, table.optimizer));
  for (const auto& [state, tensor] : numbers) sections[kTableOptimizers].push_back({name + "." + state, tensor});
}

void Client::read_dense(int part, int parts, std::map<std::string, std::vector<OwnTensor>>& sections) const {
  std::vector<c10::impl::GenericList> names(servers(), c10::impl::GenericList(c10::AnyType::get()));
  for (auto& list : names) list = c10::impl::GenericList(c10::AnyType::get());  // copies share their elements
  for (std::size_t i = static_cast<std::size_t>(part); i < dense_servers_.size(); i += static_cast<std::size_t>(parts)) {
    names[dense_servers_[i]].push_back(dense_.parameters[i].first);
    sections[kTableOptimizers].push_back(optimizer_entry(dense_.parameters[i].first, dense_.optimizer));
  }
  std::vector<rpc::Future> calls;
  for (std::size_t server = 0; server < servers(); ++server) {
    if (!names[server].empty()) calls.push_back(call_server(server, kReadState, {self_, "", names[server]}));
  }
  for (const at::IValue& answer : wait_for_all(calls)) {
    for (auto& [name, tensor] : named_tensors_from(answer)) {
      std::string shown = name;
      const auto slash = shown.find('/');
      if (slash != std::string::npos) shown[slash] = '.';
      sections[slash == std::string::npos ? kTables : kTableOptimizers].push_back({shown, tensor});
    }
  }
}

void Client::check_between_steps(const char* what) const {
  if (has_pushed_) invalid(std::string("this trainer's last step is not over: call step() again, which waits on, before ") + what);
}

std::map<std::string, std::vector<OwnTensor>> Client::state(int part, int parts) {
  check_usable();
  check_part(part, parts);
  check_between_steps("state()");
  const at::NoGradGuard no_grad;
  std::map<std::string, std::vector<OwnTensor>> sections;
  for (const auto& [name, embedding] : embeddings_) read_table(name, part, parts, sections);
  read_dense(part, parts, sections);
  return sections;
}

CheckpointRequest Client::request(int part, int parts) const {
  check_part(part, parts);
  std::map<std::string, std::vector<std::int64_t>> tables;  // by name their shapes
  std::map<std::string, std::int64_t> names;                // and dense parameters' numbers
  for (const auto& [name, embedding] : embeddings_) {
    tables[name] = {embedding.table.rows, embedding.table.width};
    names[name] = -1;
  }
  for (std::size_t i = 0; i < dense_.parameters.size(); ++i) names[dense_.parameters[i].first] = static_cast<std::int64_t>(i);
  CheckpointRequest request;
  request.part = [=](const std::string& section, const std::string& name,
                     const std::vector<std::int64_t>& sizes) -> std::optional<TensorPart> {
    const TensorPart all{std::vector<std::int64_t>(sizes.size(), 0), sizes};
    if (section != kTables && section != kTableOptimizers) return all;
    const bool is_state = section == kTableOptimizers;
    const std::string of = is_state ? owner_of(name, names) : name;
    if (!names.contains(of)) return std::nullopt;
    if (const auto table = tables.find(of); table != tables.end()) {
      if (sizes != table->second) return all;  // a number, or what load() refuses
      const Range range = range_of(sizes[0], part, parts);
      if (range.begin == range.end) return std::nullopt;
      return TensorPart{{range.begin, 0}, {range.end - range.begin, sizes[1]}};
    }
    // All trainers have the values of dense parameters, and look under which optimizer they were saved.
    if (is_state && !name.ends_with(std::string(".") + kOptimizer) && names.at(of) % parts != part) return std::nullopt;
    return all;
  };
  return request;
}

void Client::check_optimizer(const std::string& what, const std::string& name, const std::string& type,
                             const Checkpoint& checkpoint) const {
  const at::Tensor* entry = find_in(section_of(checkpoint, kTableOptimizers), name + "." + kOptimizer);
  if (!entry) return;  // it has values alone
  const std::string saved = optimizer_in(*entry);
  if (saved == type) return;
  invalid(what + " '" + name + "' of the checkpoint of step " + std::to_string(checkpoint.step) + " was saved under " + saved +
          ", and the servers have " + type + " for it: declare it with the optimizer that it was saved under, or load a checkpoint "
          "that was saved under " + type);
}

void Client::check_optimizers(const Checkpoint& checkpoint) const {
  for (const auto& [name, embedding] : embeddings_) {
    check_optimizer("table", name, embedding.table.optimizer, checkpoint);
  }
  for (const auto& [name, parameter] : dense_.parameters) {
    check_optimizer("dense parameter", name, dense_.optimizer, checkpoint);
  }
}

void Client::load_table(const std::string& name, const Checkpoint& checkpoint, int part, int parts) {
  const Embedding& embedding = embeddings_.at(name);
  const EmbeddingTable& table = embedding.table;
  const Range range = range_of(table.rows, part, parts);
  if (range.begin == range.end) return;
  const std::vector<std::int64_t> sizes{range.end - range.begin, table.width};
  const at::Tensor* values = find_in(section_of(checkpoint, kTables), name);
  if (!values) invalid("the checkpoint of step " + std::to_string(checkpoint.step) + " has no table '" + name + "'");
  std::map<std::string, std::int64_t> names;
  for (const auto& [other, one] : embeddings_) names[other] = 0;
  for (const auto& [other, parameter] : dense_.parameters) names[other] = 0;
  NamedTensors state{{kValues, *values}};
  for (const auto& [of, tensor] : section_of(checkpoint, kTableOptimizers)) {
    if (owner_of(of, names) != name) continue;
    if (std::string one = of.substr(name.size() + 1); one != kOptimizer) state.emplace_back(std::move(one), tensor);
  }
  for (const auto& [of, tensor] : state) {
    if (of != kValues && tensor.numel() == 1 && tensor.dim() == 0) continue;
    if (tensor.sizes() == at::IntArrayRef(sizes) && tensor.scalar_type() == table.dtype) continue;
    std::ostringstream text;
    text << "table '" << name << "': '" << (of == kValues ? name : name + "." + of) << "' of the checkpoint of step "
         << checkpoint.step << " has a part of " << at::toString(tensor.scalar_type()) << ' ' << tensor.sizes() << " for "
         << at::toString(table.dtype) << ' ' << at::IntArrayRef(sizes) << "; the table has " << table.rows
         << " rows of width " << table.width;
    invalid(text.str());
  }
  for (std::int64_t begin = 0; begin < sizes[0]; begin += rows_at_a_time(table)) {
    const std::int64_t end = std::min(sizes[0], begin + rows_at_a_time(table));
    std::vector<rpc::Future> calls;
    for (const OnServer& some : spread(embedding, at::arange(range.begin + begin, range.begin + end, at::kLong))) {
      if (some.places.numel() == 0) continue;
      NamedTensors here;
      for (const auto& [of, tensor] : state) {
        here.emplace_back(of, tensor.dim() == 2 ? tensor.index_select(0, some.positions + begin) : tensor);
      }
      calls.push_back(call_server(some.server, kWriteState, {self_, name, some.places, to_value(here)}));
    }
    wait_for_all(calls);
  }
}

void Client::load_dense(const Checkpoint& checkpoint, int part, int parts) {
  std::map<std::string, std::int64_t> names;
  for (const auto& [name, embedding] : embeddings_) names[name] = -1;
  for (std::size_t i = 0; i < dense_.parameters.size(); ++i) names[dense_.parameters[i].first] = static_cast<std::int64_t>(i);
  std::vector<NamedTensors> writes(servers());
  for (std::size_t i = 0; i < dense_.parameters.size(); ++i) {
    const auto& [name, parameter] = dense_.parameters[i];
    const at::Tensor* value = find_in(section_of(checkpoint, kTables), name);
    if (!value) {
      invalid("the checkpoint of step " + std::to_string(checkpoint.step) + " has no dense parameter '" + name + "'");
    }
    if (value->sizes() != parameter.sizes() || value->scalar_type() != parameter.scalar_type()) {
      std::ostringstream text;
      text << "dense parameter '" << name << "' is " << at::toString(parameter.scalar_type()) << ' ' << parameter.sizes()
           << "; in the checkpoint of step " << checkpoint.step << " it is " << at::toString(value->scalar_type()) << ' '
           << value->sizes();
      invalid(text.str());
    }
    if (static_cast<int>(i % static_cast<std::size_t>(parts)) == part) {
      writes[dense_servers_[i]].emplace_back(name, *value);
    }
  }
  for (const auto& [of, tensor] : section_of(checkpoint, kTableOptimizers)) {
    const auto owner = names.find(owner_of(of, names));
    if (owner == names.end() || owner->second < 0 || owner->second % parts != part) continue;
    const std::string state = of.substr(owner->first.size() + 1);
    if (state == kOptimizer) continue;
    writes[dense_servers_[static_cast<std::size_t>(owner->second)]].emplace_back(owner->first + "/" + state, tensor);
  }
  std::vector<rpc::Future> calls;
  for (std::size_t server = 0; server < servers(); ++server) {
    if (!writes[server].empty()) {
      calls.push_back(call_server(server, kWriteState, {self_, "", at::IValue(), to_value(writes[server])}));
    }
  }
  wait_for_all(calls);
  for (auto& [name, parameter] : dense_.parameters) parameter.copy_(*find_in(section_of(checkpoint, kTables), name));
}

void Client::load(const Checkpoint& checkpoint, int part, int parts) {
  check_usable();
  check_part(part, parts);
  check_between_steps("load()");
  check_optimizers(checkpoint);
  const at::NoGradGuard no_grad;
  for (const auto& [name, embedding] : embeddings_) load_table(name, checkpoint, part, parts);
  load_dense(checkpoint, part, parts);
}

}  // namespace tandem::parameter_server
