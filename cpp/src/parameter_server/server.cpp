#include "parameter_server/server.h"

#include <ATen/core/jit_type.h>
#include <c10/util/ScopeExit.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/invalid.h"
#include "base/longest_wait.h"
#include "jit/errors.h"
#include "parameter_server/calls.h"
#include "rpc/functions.h"

namespace tandem::parameter_server {
namespace {

// Three quarters of what the machine has, or the control group (version 2, as containers have it) may use.
std::int64_t default_most_bytes() {
  auto bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::ifstream file("/sys/fs/cgroup/memory.max");
  if (std::int64_t limit = 0; file >> limit) bytes = std::min(bytes, limit);
  return bytes / 4 * 3;
}

std::vector<at::Tensor> tensors_from(const at::IValue& value) {
  std::vector<at::Tensor> tensors;
  for (const at::IValue& one : value.toListRef()) tensors.push_back(one.isNone() ? at::Tensor() : one.toTensor());
  return tensors;
}

// An error of what a trainer asked, which the caller's message will name the server in.
template <typename Body>
auto asked_by(const std::string& trainer, const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(error.code(), "asked by trainer '" + trainer + "': " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "asked by trainer '" + trainer + "': no memory");
  } catch (const std::exception&) {
    const std::string reason = jit::reason_of_current();
    throw Error(jit::code_of_reason(reason), "asked by trainer '" + trainer + "': " + reason);
  }
}

}  // namespace

Server::Server(std::int64_t most_bytes) : most_bytes_(most_bytes > 0 ? most_bytes : default_most_bytes()) {}

std::shared_ptr<const Server::Tables> Server::tables() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!tables_) throw Error(ErrorCode::kNotFound, "no trainer has declared tables here yet");
  return tables_;
}

std::shared_ptr<Table> Server::table(const std::string& name) const {
  const auto all = tables();
  const auto found = all->embeddings.find(name);
  if (found != all->embeddings.end()) return found->second;
  throw Error(ErrorCode::kNotFound, "there is no embedding table '" + name + "'");
}

Server::Tables Server::make(const std::string& trainer, const Declarations& declared, const at::IValue& values) const {
  Tables made;
  made.declared_by = trainer;
  std::int64_t bytes = declared.dense.bytes();
  const auto check_room = [&](const std::string& what) {
    if (bytes >= 0 && bytes <= most_bytes_) return;
    throw Error(ErrorCode::kOutOfMemory, what + " would take this server's tables beyond most_bytes, " +
                                             std::to_string(most_bytes_) + "; add servers, or raise it");
  };
  check_room("the dense parameters");
  for (const TableDeclaration& table : declared.tables) {
    if (__builtin_add_overflow(bytes, table.bytes(), &bytes)) bytes = INT64_MAX;
    check_room("table '" + table.name + "'");
  }
  made.bytes = bytes;
  const auto& given = values.toTupleRef().elements();
  made.dense = std::make_shared<DenseTable>(declared.dense, tensors_from(given.at(0)));
  std::map<std::string, at::Tensor> initial;
  for (auto& [name, tensor] : named_tensors_from(given.at(1))) initial.emplace(name, tensor);
  for (const TableDeclaration& table : declared.tables) {
    const auto found = initial.find(table.name);
    made.embeddings.emplace(table.name, 
                            std::make_shared<Table>(table, found == initial.end() ? at::Tensor() : found->second));
  }
  return made;
}

void Server::check_same(const std::string& trainer, const Declarations& declared) const {
  const auto differ = [&](const std::string& what, const std::string& here, const std::string& there) {
    if (here == there) return;
    invalid(what + " of trainer '" + trainer + "' is: " + here + "; '" + tables_->declared_by + "' declared: " + there);
  };
  differ("the mode", declared.mode.text(), trainers_->mode().text());
  differ("the declaration of dense parameters", declared.dense.text(), tables_->dense->declared().text());
  std::string names, known;
  for (const auto& [name, table] : tables_->embeddings) known += "'" + name + "' ";
  std::map<std::string, const TableDeclaration*> sorted;
  for (const TableDeclaration& table : declared.tables) sorted.emplace(table.name, &table);
  for (const auto& [name, table] : sorted) names += "'" + name + "' ";
  differ("the list of tables", names, known);
  for (const auto& [name, table] : sorted) {
    differ("table '" + name + "'", table->text(), tables_->embeddings.at(name)->declared().text());
  }
}

at::IValue Server::join(const rpc::Values& given) {
  const std::string trainer = given.at(0).toStringRef();
  std::int64_t number;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = next_join_++;
    joins_.emplace(number, trainer);
  }
  const auto end = c10::make_scope_exit([&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    joins_.erase(number);
  });
  return join(trainer, number, given);
}

at::IValue Server::join(const std::string& trainer, std::int64_t number, const rpc::Values& given) {
  return asked_by(trainer, [&]() -> at::IValue {
    rpc::worker(trainer);
    const Declarations declared = declarations_from(given.at(1));
    const std::int64_t first = given.at(2).toInt();
    const std::lock_guard<std::mutex> making(making_);
    bool have_tables;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      have_tables = tables_ != nullptr;
    }
    if (!have_tables && given.at(3).isNone()) return {};  // with values, please
    std::shared_ptr<const Tables> made;
    if (!have_tables) made = std::make_shared<const Tables>(make(trainer, declared, given.at(3)));
    const std::lock_guard<std::mutex> lock(mutex_);
    check_failure();
    if (!joins_.contains(number)) {
      throw Error(ErrorCode::kAborted, "it gave up while tables were made here; raise its timeout");
    }
    if (made) {
      tables_ = std::move(made);
      trainers_.emplace(declared.mode);
    }
    check_same(trainer, declared);
    const std::int64_t step = trainers_->join(trainer, first < 0 ? std::nullopt : std::optional(first));
    go_through_steps();  // where all others have left, no push or leave would come that does
    return c10::ivalue::Tuple::create({at::IValue(step), at::IValue(!have_tables)});
  });
}

at::IValue Server::admit(const rpc::Values& given) {
  const std::string trainer = given.at(0).toStringRef();
  tables();
  std::vector<std::string> released;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    trainers_->admit(trainer);
    go_through_steps();
    released = take_released();
  }
  tell(released);
  return {};
}

at::IValue Server::leave(const rpc::Values& given) {
  const std::string trainer = given.at(0).toStringRef();
  const bool in_good_order = given.at(1).toBool();
  std::vector<std::string> released;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(joins_, [&](const auto& one) { return one.second == trainer; });
    if (!trainers_) return {};
    if (in_good_order && trainers_->have_all_joined()) {
      trainers_->remove(trainer);
      go_through_steps();
    } else {
      lose(trainer, in_good_order ? "left before all trainers had joined" : "gave up (its client went without leaving)");
    }
    released = take_released();
  }
  tell(released);
  return {};
}

at::IValue Server::read(const rpc::Values& given) {
  const std::string trainer = given.at(0).toStringRef();
  return asked_by(trainer, [&] {
    const auto asked = table(given.at(1).toStringRef());
    const at::Tensor places = given.at(2).toTensor();
    asked->check_places(places);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      check_failure();
      statistics_.rows_read += places.numel();
    }
    return at::IValue(asked->read(places));
  });
}

Server::Gradients Server::gradients_from(const rpc::Values& given) const {
  const auto all = tables();
  Gradients gradients;
  gradients.dense = tensors_from(given.at(2));
  if (gradients.dense.size() != all->dense->size()) {
    invalid(std::to_string(gradients.dense.size()) + " gradients came for " + std::to_string(all->dense->size()) +
            " dense parameters");
  }
  for (std::size_t i = 0; i < gradients.dense.size(); ++i) {
    if (gradients.dense[i].defined()) all->dense->check(i, gradients.dense[i], "gradient");
  }
  for (const at::IValue& one : given.at(3).toListRef()) {
    const auto& parts = one.toTupleRef().elements();
    TableGradients pushed{table(parts.at(0).toStringRef()), parts.at(1).toTensor(), parts.at(2).toTensor()};
    pushed.table->check_rows(pushed.places, pushed.gradients, "gradients");
    gradients.tables.push_back(std::move(pushed));
  }
  return gradients;
}

void Server::apply(const Tables& tables, const Gradients& gradients) {
  const bool any = std::ranges::any_of(gradients.dense, [](const at::Tensor& one) { return one.defined(); });
  if (any) tables.dense->apply(gradients.dense);
  for (const TableGradients& one : gradients.tables) one.table->apply(one.places, one.gradients);
}

void Server::add(Gradients&& gradients) {
  const at::NoGradGuard no_grad;
  sum_.dense.resize(gradients.dense.size());
  for (std::size_t i = 0; i < gradients.dense.size(); ++i) {
    at::Tensor& sum = sum_.dense[i];
    if (!gradients.dense[i].defined()) continue;
    if (sum.defined()) {
      sum.add_(gradients.dense[i]);
    } else {
      sum = gradients.dense[i].clone();
    }
  }
  for (TableGradients& one : gradients.tables) sum_.tables[one.table->declared().name].push_back(std::move(one));
  ++sum_.pushes;
}

void Server::apply_sum() {
  const at::NoGradGuard no_grad;
  const Sum sum = std::exchange(sum_, Sum());
  const auto pushes = static_cast<double>(sum.pushes);
  Gradients mean;
  for (const at::Tensor& one : sum.dense) mean.dense.push_back(one.defined() ? one.div(pushes) : one);
  for (const auto& [name, pushed] : sum.tables) {
    std::vector<at::Tensor> places, gradients;
    for (const TableGradients& one : pushed) {
      places.push_back(one.places);
      gradients.push_back(one.gradients);
    }
    mean.tables.push_back({pushed.front().table, at::cat(places), at::cat(gradients).div(pushes)});
  }
  apply(*tables_, mean);
  ++statistics_.updates;
}

// Makes the updates of the steps that all have pushed.
void Server::go_through_steps() {
  changed_.notify_all();
  if (!trainers_->mode().synchronous) return;
  while (!failure_ && trainers_->is_complete()) {
    try {
      if (sum_.pushes > 0) apply_sum();
    } catch (const Error& error) {
      return fail(error);
    } catch (const std::exception&) {
      return fail(Error(ErrorCode::kInternal, jit::reason_of_current()));
    }
    trainers_->begin_next();
  }
}

at::IValue Server::push(const rpc::Values& given) {
  const std::string trainer = given.at(0).toStringRef();
  std::vector<std::string> released;
  std::int64_t step = 0;
  asked_by(trainer, [&] {
    step = given.at(1).toInt();
    Gradients gradients = gradients_from(given);
    const auto all = tables();
    std::unique_lock<std::mutex> lock(mutex_);
    check_failure();
    trainers_->check_push(trainer, step);
    statistics_.most_ahead = std::max(statistics_.most_ahead, trainers_->ahead(trainer));
    ++statistics_.pushes;
    for (const TableGradients& one : gradients.tables) statistics_.rows_pushed += one.places.numel();
    if (trainers_->mode().synchronous) {
      add(std::move(gradients));
    } else {
      lock.unlock();  // tables have locks of their own
      apply(*all, gradients);
      lock.lock();
      ++statistics_.updates;
    }
    trainers_->count_push(trainer);
    go_through_steps();
    released = take_released();
  });
  tell(released);
  return standing(trainer, step + 1, /*has_pushed=*/true);
}

at::IValue Server::look(const rpc::Values& given) {
  return standing(given.at(0).toStringRef(), given.at(1).toInt(), /*has_pushed=*/false);
}

// Whether it may go on, then with the dense parameters' values; else who is missing, after whom it looks.
at::IValue Server::standing(const std::string& trainer, std::int64_t clock, bool has_pushed) {
  const auto all = tables();
  std::vector<std::string> missing;
  bool goes_on;
  std::int64_t joined;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!trainers_->takes_part(trainer)) check_failure();
    goes_on = trainers_->has_come_to(trainer, clock) && trainers_->may_go_on(trainer);
    // A step that all have made is one, whoever gives up after it: the next says so.
    const bool all_made_it = goes_on && trainers_->mode().synchronous && trainers_->has_pushed(trainer);
    if (!all_made_it) check_failure();
    joined = trainers_->have_all_joined() ? -1 : trainers_->joined();
    if (!goes_on) {
      missing = joined < 0 ? trainers_->missing_for(trainer) : trainers_->names();
      waiting_.insert(trainer);
      if (has_pushed) ++statistics_.waits;
    }
  }
  c10::impl::GenericList names(c10::AnyType::get()), values(c10::AnyType::get());
  if (goes_on) {
    for (at::Tensor& value : all->dense->read()) values.push_back(std::move(value));
  } else {
    ping(missing);
    if (joined < 0) {
      for (const std::string& name : missing) names.push_back(name);
    }
  }
  return c10::ivalue::Tuple::create({at::IValue(goes_on), at::IValue(joined), at::IValue(names), at::IValue(values)});
}

std::vector<std::string> Server::take_released() {
  std::vector<std::string> released;
  for (const std::string& name : trainers_->names()) {
    if (waiting_.contains(name) && (failure_ || trainers_->may_go_on(name))) released.push_back(name);
  }
  for (const std::string& name : released) waiting_.erase(name);
  return released;
}

void Server::tell(const std::vector<std::string>& released) const {
  for (const std::string& name : released) {
    try {
      call(name, kMoved, {}, kBetweenLooks * 20);
    } catch (const Error&) {
      // It looks by itself, only later.
    }
  }
}

// Those who are gone are found out; the answers come on a thread of the session.
void Server::ping(const std::vector<std::string>& trainers) {
  for (const std::string& name : trainers) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!pinged_.insert(name).second) continue;
    }
    try {
      const auto answered = [weak = weak_from_this(), name](const rpc::Future& answer) -> at::IValue {
        const auto server = weak.lock();
        if (!server) return {};
        std::vector<std::string> released;
        {
          const std::lock_guard<std::mutex> lock(server->mutex_);
          server->pinged_.erase(name);
          const auto error = answer.error();
          if (!error || error->code() != ErrorCode::kPeerLost) return {};
          server->lose(name, "is gone");
          released = server->take_released();
        }
        server->tell(released);
        return {};
      };
      call(name, rpc::kPing, {}, kBetweenLooks * 20).then(answered);
    } catch (const Error&) {
      const std::lock_guard<std::mutex> lock(mutex_);
      pinged_.erase(name);
    }
  }
}

void Server::lose(const std::string& trainer, const std::string& how) {
  const auto names = trainers_->names();
  if (std::ranges::find(names, trainer) == names.end()) return;
  // Other servers wait for what it would have told them.
  const bool half_joined = trainers_->is_half_joined(trainer);
  trainers_->remove(trainer);
  if (trainers_->mode().lost_ones_leave && trainers_->have_all_joined() && !half_joined) {
    go_through_steps();
    return;
  }
  const bool gone = how == "is gone";
  fail(Error(gone ? ErrorCode::kPeerLost : ErrorCode::kAborted,
             "trainer '" + trainer + "' " + how + (half_joined ? " before it had joined all servers" : "") +
                 "; see its output for why. Start again from a checkpoint" +
                 (trainers_->mode().lost_ones_leave ? "" : ", or let the others go on (lost_trainers)")));
}

void Server::fail(const Error& error) {
  if (!failure_) failure_ = error;
  changed_.notify_all();
}

void Server::check_failure() const {
  if (failure_) throw *failure_;
}

at::IValue Server::set_option(const rpc::Values& given) {
  const std::string trainer = given.at(0).toStringRef(), name = given.at(1).toStringRef();
  return asked_by(trainer, [&]() -> at::IValue {
    const Option option{given.at(2).toStringRef(), given.at(3)};
    if (name.empty()) {
      tables()->dense->set_option(option);
    } else {
      table(name)->set_option(option);
    }
    return {};
  });
}

at::IValue Server::read_state(const rpc::Values& given) {
  const std::string trainer = given.at(0).toStringRef(), name = given.at(1).toStringRef();
  return asked_by(trainer, [&] {
    if (name.empty()) {
      std::vector<std::string> names;
      for (const at::IValue& one : given.at(2).toListRef()) names.push_back(one.toStringRef());
      return to_value(tables()->dense->read_state(names));
    }
    const auto asked = table(name);
    const at::Tensor places = given.at(2).toTensor();
    asked->check_places(places);
    return to_value(asked->read_state(places));
  });
}

at::IValue Server::write_state(const rpc::Values& given) {
  const std::string trainer = given.at(0).toStringRef(), name = given.at(1).toStringRef();
  return asked_by(trainer, [&]() -> at::IValue {
    const NamedTensors state = named_tensors_from(given.at(3));
    if (name.empty()) {
      tables()->dense->write_state(state);
    } else {
      table(name)->write_state(given.at(2).toTensor(), state);
    }
    return {};
  });
}

at::IValue Server::stays(const rpc::Values&) {
  std::string names;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!trainers_) return "";
  for (const std::string& name : trainers_->names()) names += (names.empty() ? "'" : ", '") + name + "'";
  if (names.empty()) return "";
  return "is a parameter server that clients have not left: those of " + names +
         ". Call ParameterClient::leave() there, or end the client, before rpc::shutdown";
}

bool Server::wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + std::min(timeout, kLongestWait);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    const auto left = trainers_ ? trainers_->names() : std::vector<std::string>();
    if (trainers_ && left.empty() && (failure_ || trainers_->have_all_joined())) {
      check_failure();
      return true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    lock.unlock();
    ping(left);
    lock.lock();
    changed_.wait_until(lock, std::min(deadline, now + kBetweenLooks));
  }
}

ParameterServerStatistics Server::statistics() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  ParameterServerStatistics now = statistics_;
  if (!tables_) return now;
  now.bytes = tables_->bytes;
  now.trainers = trainers_->names();
  for (const auto& [name, table] : tables_->embeddings) now.tables.push_back(name);
  for (const DenseDeclaration& one : tables_->dense->declared().parameters) now.tables.push_back(one.name);
  return now;
}

}  // namespace tandem::parameter_server
