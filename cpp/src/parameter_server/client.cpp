#include "parameter_server/client.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "base/invalid.h"
#include "rpc/functions.h"

namespace tandem::parameter_server {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kBetweenTries{20};
constexpr milliseconds kGiveUp{5000};
constexpr milliseconds kLeastLook{1000};  // at the end of a wait, which a server that is there answers

// How often servers have told this process to look again.
struct Told {
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t times = 0;
};

Told& told() {
  static auto* instance = new Told;
  return *instance;
}

std::int64_t times_told() {
  const std::lock_guard<std::mutex> lock(told().mutex);
  return told().times;
}

void wait_until_told(std::int64_t more_than, milliseconds at_most) {
  std::unique_lock<std::mutex> lock(told().mutex);
  told().changed.wait_for(lock, at_most, [&] { return told().times > more_than; });
}

void register_client_functions() {
  rpc::Functions::instance().add_own(kMoved, [](const rpc::Values&) {
    const std::lock_guard<std::mutex> lock(told().mutex);
    ++told().times;
    told().changed.notify_all();
    return at::IValue();
  });
}

milliseconds left_until(Clock::time_point deadline) {
  return std::max(std::chrono::duration_cast<milliseconds>(deadline - Clock::now()), milliseconds(1));
}

at::Tensor on_cpu(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU).contiguous();
}

void check(const ParameterClientOptions& options) {
  const auto refuse = [](const std::string& what) { invalid("ParameterClientOptions::" + what); };
  if (options.servers.empty()) refuse("servers is empty; name the workers that have a ParameterServer");
  const std::set<std::string> names(options.servers.begin(), options.servers.end());
  if (names.size() != options.servers.size()) refuse("servers names one twice");
  if (options.trainers < 1) refuse("trainers is " + std::to_string(options.trainers) + "; it must be 1 or more");
  if (options.staleness < 0) refuse("staleness is " + std::to_string(options.staleness) + "; it must be 0 or more");
  if (options.synchronous && options.staleness != 0) refuse("staleness is of trainers that are not synchronous");
  if (options.timeout.count() <= 0) {
    refuse("timeout is " + std::to_string(options.timeout.count()) + " ms; it must be more than 0");
  }
}

}  // namespace

Client::Client(ParameterClientOptions options, DenseParameters dense, std::map<std::string, EmbeddingTable> embeddings)
    : options_(std::move(options)), dense_(std::move(dense)) {
  check(options_);
  if (dense_.parameters.empty() && embeddings.empty()) {
    invalid(
        "this trainer declares neither embedding tables nor dense parameters, so that servers have nothing to train; "
        "give either");
  }
  joined_.resize(servers());
  for (auto& [name, table] : embeddings) {
    const Rows rows(table.rows, static_cast<int>(servers()), table.placement);
    embeddings_.emplace(name, Embedding{std::move(table), rows, {}});
  }
  check_tables();
  place_dense();
}

void Client::check_tables() const {
  std::set<std::string> names;
  for (const auto& [name, parameter] : dense_.parameters) {
    check_table_name(name);
    if (!names.insert(name).second) invalid("two dense parameters are named '" + name + "'");
    if (!parameter.defined() || parameter.layout() != at::kStrided) {
      invalid("dense parameter '" + name + "' is no strided tensor");
    }
  }
  for (const auto& [name, embedding] : embeddings_) {
    if (!names.insert(name).second) invalid("'" + name + "' is the name of a dense parameter and of a table");
    const at::Tensor& initial = embedding.table.initial;
    if (!initial.defined()) continue;
    const bool fits = initial.layout() == at::kStrided && initial.scalar_type() == embedding.table.dtype &&
                      initial.sizes() == at::IntArrayRef({embedding.table.rows, embedding.table.width});
    if (!fits) invalid("table '" + name + "': the initial values are not of the table's shape and dtype");
  }
  for (std::size_t server = 0; server < servers(); ++server) {
    const Declarations declared = declarations(server);
    for (const TableDeclaration& table : declared.tables) table.check();
    declared.dense.check();
  }
}

// The largest first, each to the server that has least.
void Client::place_dense() {
  const auto size = [this](std::size_t i) { return dense_.parameters[i].second.numel(); };
  std::vector<std::size_t> order(dense_.parameters.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  std::vector<std::int64_t> load(servers());
  dense_servers_.resize(order.size());
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(load);
    dense_servers_[i] = static_cast<std::size_t>(least - load.begin());
    *least += size(i);
  }
}

Declarations Client::declarations(std::size_t server) const {
  Declarations all;
  all.mode = {options_.synchronous, options_.staleness, options_.trainers, options_.lost_trainers == LostTrainers::kLeave};
  all.dense.optimizer = {dense_.optimizer, dense_.optimizer_options};
  for (std::size_t i = 0; i < dense_servers_.size(); ++i) {
    const auto& [name, tensor] = dense_.parameters[i];
    if (dense_servers_[i] == server) all.dense.parameters.push_back({name, tensor.sizes().vec(), tensor.scalar_type()});
  }
  for (const auto& [name, embedding] : embeddings_) {
    const EmbeddingTable& table = embedding.table;
    all.tables.push_back({name, table.rows, table.width, table.dtype, {table.optimizer, table.optimizer_options},
                          table.placement, table.initial.defined(), table.standard_deviation, table.seed,
                          static_cast<int>(server), static_cast<int>(servers())});
  }
  return all;
}

at::IValue Client::values_for(std::size_t server) const {
  const at::NoGradGuard no_grad;
  c10::impl::GenericList dense(c10::AnyType::get());
  NamedTensors initial;
  for (std::size_t i = 0; i < dense_servers_.size(); ++i) {
    if (dense_servers_[i] == server) dense.push_back(on_cpu(dense_.parameters[i].second));
  }
  for (const auto& [name, embedding] : embeddings_) {
    if (!embedding.table.initial.defined()) continue;
    const at::Tensor rows = embedding.rows.rows_of(static_cast<int>(server));
    initial.emplace_back(name, on_cpu(embedding.table.initial).index_select(0, rows));
  }
  return c10::ivalue::Tuple::create({at::IValue(dense), to_value(initial)});
}

rpc::Future Client::call_server(std::size_t server, const char* function, rpc::Values arguments,
                                milliseconds timeout) const {
  return call(options_.servers[server], function, std::move(arguments), timeout.count() > 0 ? timeout : options_.timeout);
}

// Who makes the tables on the first server makes them on all.
void Client::join_server(std::size_t server, bool& is_first) {
  const at::IValue declared = to_value(declarations(server));
  const std::int64_t step = server == 0 ? -1 : clock_;
  const auto deadline = Clock::now() + options_.timeout;
  joined_[server] = true;
  at::IValue answer = call_server(server, kJoin, {self_, declared, step, at::IValue()}).wait();
  while (answer.isNone() && server > 0 && !is_first) {
    if (Clock::now() >= deadline) {
      throw Error(ErrorCode::kTimeout, "server '" + options_.servers[server] +
                                           "' has no tables yet: the trainer that joined first has not made them there");
    }
    std::this_thread::sleep_for(kBetweenTries);
    call_server(0, kLook, {self_, clock_}, left_until(deadline)).wait();  // hears of the other one's end
    answer = call_server(server, kJoin, {self_, declared, step, at::IValue()}, left_until(deadline)).wait();
  }
  if (answer.isNone()) answer = call_server(server, kJoin, {self_, declared, step, values_for(server)}).wait();
  const auto& parts = answer.toTupleRef().elements();
  clock_ = parts.at(0).toInt();
  if (server == 0) is_first = parts.at(1).toBool();
}

void Client::join() {
  self_ = rpc::self().name;
  register_client_functions();
  const std::int64_t before = times_told();
  bool is_first = false;
  for (std::size_t server = 0; server < servers(); ++server) join_server(server, is_first);
  call_server(0, kAdmit, {self_}).wait();
  wait_for_others(std::vector<std::optional<at::IValue>>(servers()), clock_, before, "joining");
}

void Client::check_usable() const {
  if (failure_) throw *failure_;
  if (has_left_) throw Error(ErrorCode::kClosed, "this trainer has left the parameter servers");
}

void Client::fail_on(const Error& error) {
  if (error.code() != ErrorCode::kTimeout) failure_ = error;
}

Client::Embedding& Client::find(const std::string& table) {
  const auto found = embeddings_.find(table);
  if (found != embeddings_.end()) return found->second;
  std::string known;
  for (const auto& [name, embedding] : embeddings_) known += (known.empty() ? "'" : ", '") + name + "'";
  throw Error(ErrorCode::kNotFound,
              "there is no embedding table '" + table + "'" + (known.empty() ? "" : "; there are " + known));
}

std::vector<Client::OnServer> Client::spread(const Embedding& embedding, const at::Tensor& rows) const {
  std::vector<OnServer> all;
  const at::Tensor of = embedding.rows.servers_of(rows);
  for (std::size_t server = 0; server < servers(); ++server) {
    const at::Tensor positions = of.eq(static_cast<std::int64_t>(server)).nonzero().view({-1});
    all.push_back({server, positions, embedding.rows.places_of(rows.index_select(0, positions), static_cast<int>(server))});
  }
  return all;
}

at::Tensor Client::embedding(const std::string& table, const at::Tensor& indices) {
  check_usable();
  Embedding& embedding = find(table);
  if (!indices.defined() || indices.layout() != at::kStrided || indices.scalar_type() != at::kLong) {
    invalid("table '" + table + "': indices are a strided tensor of int64" +
            (indices.defined() ? std::string(", and these are ") + at::toString(indices.scalar_type()) : ""));
  }
  const at::Tensor flat = on_cpu(indices).view({-1});
  if (flat.numel() > 0) {
    const auto least = flat.min().item<std::int64_t>(), most = flat.max().item<std::int64_t>();
    if (least < 0 || most >= embedding.table.rows) {
      throw Error(ErrorCode::kOutOfRange, "table '" + table + "': index " + std::to_string(least < 0 ? least : most) +
                                              " is out of range; it has " + std::to_string(embedding.table.rows) + " rows");
    }
  }
  const auto [rows, inverse] = at::_unique(flat, /*sorted=*/true, /*return_inverse=*/true);
  at::Tensor values;
  {
    const at::NoGradGuard no_grad;
    values = at::empty({rows.numel(), embedding.table.width}, embedding.table.dtype);
    const auto parts = spread(embedding, rows);
    std::vector<rpc::Future> calls;
    std::vector<const OnServer*> asked;
    for (const OnServer& part : parts) {
      if (part.places.numel() == 0) continue;
      asked.push_back(&part);
      calls.push_back(call_server(part.server, kRead, {self_, table, part.places}));
    }
    try {
      const auto answers = wait_for_all(calls);
      for (std::size_t i = 0; i < answers.size(); ++i) values.index_copy_(0, asked[i]->positions, answers[i].toTensor());
    } catch (const Error& error) {
      fail_on(error);
      throw;
    }
  }
  if (at::GradMode::is_enabled()) {
    values.requires_grad_(true);
    embedding.asked.push_back({rows, values});
  }
  return at::embedding(values, inverse.view(indices.sizes()));
}

// By server; afterwards this trainer has no gradients any more.
std::vector<rpc::Values> Client::take_pushes() {
  const at::NoGradGuard no_grad;
  std::vector<c10::impl::GenericList> dense, tables;
  for (std::size_t server = 0; server < servers(); ++server) {
    dense.emplace_back(c10::AnyType::get());
    tables.emplace_back(c10::AnyType::get());
  }
  for (std::size_t i = 0; i < dense_servers_.size(); ++i) {
    const at::Tensor& gradient = dense_.parameters[i].second.grad();
    if (gradient.defined() && gradient.layout() != at::kStrided) {
      invalid("dense parameter '" + dense_.parameters[i].first + "' has a sparse gradient; make it an embedding table");
    }
    dense[dense_servers_[i]].push_back(gradient.defined() ? at::IValue(on_cpu(gradient)) : at::IValue());
  }
  for (auto& [name, embedding] : embeddings_) {
    std::vector<at::Tensor> rows, gradients;
    for (const Asked& asked : embedding.asked) {
      if (!asked.values.grad().defined()) continue;
      rows.push_back(asked.rows);
      gradients.push_back(asked.values.grad());
    }
    for (const Asked& asked : embedding.asked) asked.values.mutable_grad().reset();
    // A graph that is still to run holds the rows it was given.
    std::erase_if(embedding.asked, [](const Asked& asked) { return asked.values.use_count() == 1; });
    if (rows.empty()) continue;
    const at::Tensor all = at::cat(gradients);
    // Servers without a row of these count a step of the optimizer, too.
    for (const OnServer& part : spread(embedding, at::cat(rows))) {
      tables[part.server].push_back(c10::ivalue::Tuple::create(
          {at::IValue(name), at::IValue(part.places), at::IValue(all.index_select(0, part.positions))}));
    }
  }
  for (auto& [name, parameter] : dense_.parameters) parameter.mutable_grad().reset();
  std::vector<rpc::Values> pushes;
  for (std::size_t server = 0; server < servers(); ++server) pushes.push_back({self_, clock_, dense[server], tables[server]});
  return pushes;
}

void Client::step() {
  check_usable();
  const std::int64_t before = times_told();
  std::vector<std::optional<at::IValue>> standings(servers());
  if (!has_pushed_) {
    const auto pushes = take_pushes();
    has_pushed_ = true;
    std::vector<rpc::Future> calls;
    try {
      for (std::size_t server = 0; server < servers(); ++server) calls.push_back(call_server(server, kPush, pushes[server]));
      const auto answers = wait_for_all(calls);
      std::ranges::copy(answers, standings.begin());
    } catch (const Error& error) {
      fail_on(error);
      if (calls.size() < servers()) failure_ = error;  // some server will never have the gradients
      throw;
    }
  }
  try {
    wait_for_others(std::move(standings), clock_ + 1, before, "step " + std::to_string(clock_));
  } catch (const Error& error) {
    fail_on(error);
    throw;
  }
  has_pushed_ = false;
  ++clock_;
}

void Client::wait_for_others(std::vector<std::optional<at::IValue>> standings, std::int64_t clock, std::int64_t told,
                             const std::string& what) {
  const auto deadline = Clock::now() + options_.timeout;
  std::vector<bool> done(servers());
  std::string missing;
  for (;;) {
    if (!missing.empty() && Clock::now() >= deadline) {
      throw Error(ErrorCode::kTimeout, what + ": after " + std::to_string(options_.timeout.count()) + " ms " + missing +
                                           "; see whether they compute, are stopped, or hang");
    }
    std::vector<std::size_t> asked;
    std::vector<rpc::Future> calls;
    for (std::size_t server = 0; server < servers(); ++server) {
      if (done[server] || standings[server]) continue;
      asked.push_back(server);
      calls.push_back(call_server(server, kLook, {self_, clock}, std::max(left_until(deadline), kLeastLook)));
    }
    const auto answers = wait_for_all(calls);
    for (std::size_t i = 0; i < answers.size(); ++i) standings[asked[i]] = answers[i];
    for (std::size_t server = 0; server < servers(); ++server) {
      if (done[server]) continue;
      const auto& parts = standings[server]->toTupleRef().elements();
      done[server] = parts.at(0).toBool();
      if (done[server]) {
        take_dense(server, parts.at(3));
        continue;
      }
      const std::int64_t joined = parts.at(1).toInt();
      std::string names;
      for (const at::IValue& name : parts.at(2).toListRef()) {
        names += (names.empty() ? "'" : ", '") + name.toStringRef() + "'";
      }
      missing = "server '" + options_.servers[server] + "' waits for " +
                (joined >= 0 ? "all trainers to join: " + std::to_string(joined) + " of " +
                                   std::to_string(options_.trainers) + " have"
                             : (names.empty() ? "the end of this trainer's push" : "trainers " + names));
      standings[server].reset();
    }
    if (std::ranges::find(done, false) == done.end()) return;
    wait_until_told(told, std::min(kBetweenLooks, left_until(deadline)));
    told = times_told();
  }
}

void Client::take_dense(std::size_t server, const at::IValue& values) {
  const at::NoGradGuard no_grad;
  const auto given = values.toListRef();
  std::size_t next = 0;
  for (std::size_t i = 0; i < dense_servers_.size(); ++i) {
    if (dense_servers_[i] != server) continue;
    at::Tensor& parameter = dense_.parameters[i].second;
    if (next >= given.size() || given[next].toTensor().sizes() != parameter.sizes()) {
      throw Error(ErrorCode::kInternal, "server '" + options_.servers[server] +
                                            "' gave other dense parameters than it was told to keep");
    }
    parameter.copy_(given[next++].toTensor());
  }
}

void Client::set_option(const std::string& table, const Option& option) {
  check_usable();
  if (!table.empty()) {
    find(table);
  } else if (dense_.parameters.empty()) {
    throw Error(ErrorCode::kNotFound, "there are no dense parameters whose '" + option.name + "' could be set");
  }
  std::vector<rpc::Future> calls;
  for (std::size_t server = 0; server < servers(); ++server) {
    calls.push_back(call_server(server, kSetOption, {self_, table, option.name, option.value}));
  }
  wait_for_all(calls);
}

void Client::leave(bool in_good_order) {
  if (has_left_) return;
  if (in_good_order) {
    if (failure_) throw *failure_;
    check_between_steps("leave()");
  }
  std::vector<rpc::Future> calls;
  for (std::size_t server = 0; server < servers(); ++server) {
    if (!joined_[server]) continue;
    calls.push_back(call_server(server, kLeave, {self_, in_good_order}, in_good_order ? options_.timeout : kGiveUp));
    joined_[server] = false;
  }
  has_left_ = true;
  wait_for_all(calls);
}

}  // namespace tandem::parameter_server
