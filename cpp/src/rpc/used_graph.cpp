#include "rpc/used_graph.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/distributed/autograd/context/container.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "rpc/expose.h"
#include "rpc/functions.h"
#include "rpc/session.h"
#include "tandem/dist_autograd.h"

namespace tandem::rpc {
namespace {

namespace torch_autograd = torch::distributed::autograd;
using torch_autograd::DistAutogradContainer;
using torch_autograd::DistAutogradContext;
using Node = torch::autograd::Node;
using Numbers = std::vector<std::int64_t>;
// By number; releases of LibTorch differ in how they hold them.
using Sends = decltype(std::declval<const DistAutogradContext&>().sendFunctions());

constexpr const char* kReach = "tandem.autograd.reach";
constexpr const char* kKeep = "tandem.autograd.keep";

// LibTorch's context gives its sends, and takes none back.
struct SendsTag {
  friend auto& member_of(DistAutogradContext& context, SendsTag);
};
struct LockTag {
  friend auto& member_of(DistAutogradContext& context, LockTag);
};
template struct Expose<DistAutogradContext, SendsTag, &DistAutogradContext::sendAutogradFunctions_>;
template struct Expose<DistAutogradContext, LockTag, &DistAutogradContext::lock_>;

// Sends that were taken out, by context.
struct TakenOut {
  std::mutex mutex;
  std::map<std::int64_t, Sends> of;
};
TakenOut& taken_out() {
  static auto* instance = new TakenOut;
  return *instance;
}

Numbers receives_below(const ContextPtr& context, std::vector<Node*> nodes) {
  std::unordered_map<const Node*, std::int64_t> receives;
  for (const auto& [number, receive] : context->recvFunctions()) receives.emplace(receive.get(), number);
  Numbers found;
  std::unordered_set<const Node*> seen(nodes.begin(), nodes.end());
  while (!nodes.empty()) {
    Node* const node = nodes.back();
    nodes.pop_back();
    if (const auto receive = receives.find(node); receive != receives.end()) found.push_back(receive->second);
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function && seen.insert(edge.function.get()).second) nodes.push_back(edge.function.get());
    }
  }
  return found;
}

// With those that were taken out.
Sends all_sends(const ContextPtr& context) {
  Sends sends = context->sendFunctions();
  const std::lock_guard<std::mutex> lock(taken_out().mutex);
  if (const auto out = taken_out().of.find(context->contextId()); out != taken_out().of.end()) {
    sends.insert(out->second.begin(), out->second.end());
  }
  return sends;
}

at::IValue as_list(const std::set<std::int64_t>& numbers) {
  c10::List<std::int64_t> list;
  for (const std::int64_t number : numbers) list.push_back(number);
  return list;
}

// Null where this worker took no part.
ContextPtr context_if_any(std::int64_t id) {
  auto& container = DistAutogradContainer::getInstance();
  try {
    container.isValidContext(id);
    return container.retrieveContext(id);
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Of what another worker answered.
Numbers numbers_in(const at::IValue& answer, std::size_t part) {
  if (answer.isTuple()) {
    const auto& parts = answer.toTupleRef().elements();
    if (part < parts.size() && parts[part].isIntList()) return parts[part].toIntVector();
  }
  throw Error(ErrorCode::kDataLoss, "distributed backward: a worker's answer is none; start the same version on every worker");
}

struct Reached {
  Numbers receives;
  Numbers workers;  // to which this context has sent
};

Reached reach(std::int64_t id, const Numbers& sends) {
  Reached reached;
  const ContextPtr context = context_if_any(id);
  if (!context) return reached;
  reached.receives = receives_from_sends(context, sends);
  for (const auto worker : context->getKnownWorkerIds()) reached.workers.push_back(worker);
  return reached;
}

}  // namespace

Numbers receives_from_roots(const ContextPtr& context, const std::vector<at::Tensor>& roots) {
  std::vector<Node*> nodes;
  for (const at::Tensor& root : roots) {
    if (root.defined() && root.grad_fn()) nodes.push_back(root.grad_fn().get());
  }
  return receives_below(context, std::move(nodes));
}

Numbers receives_from_sends(const ContextPtr& context, const Numbers& sends) {
  const Sends all = all_sends(context);
  std::vector<Node*> nodes;
  for (const std::int64_t number : sends) {
    if (const auto send = all.find(number); send != all.end()) nodes.push_back(send->second.get());
  }
  return receives_below(context, std::move(nodes));
}

void keep_sends(const ContextPtr& context, const Numbers& sends) {
  Sends rest = all_sends(context), kept;
  for (const std::int64_t number : sends) {
    if (auto send = rest.extract(number)) kept.insert(std::move(send));
  }
  {
    const std::lock_guard<std::mutex> lock(taken_out().mutex);
    if (rest.empty()) {
      taken_out().of.erase(context->contextId());
    } else {
      taken_out().of[context->contextId()] = std::move(rest);
    }
  }
  {
    const std::lock_guard<std::mutex> lock(member_of(*context, LockTag{}));
    member_of(*context, SendsTag{}) = std::move(kept);
  }
  // One that was released meanwhile has been forgotten before.
  if (!context_if_any(context->contextId())) forget_sends(context->contextId());
}

bool has_context(std::int64_t context) {
  return context_if_any(context) != nullptr;
}

void forget_sends(std::int64_t context) {
  Sends dropped;  // without the lock
  const std::lock_guard<std::mutex> lock(taken_out().mutex);
  if (auto out = taken_out().of.extract(context)) dropped = std::move(out.mapped());
}

void register_used_graph() {
  Functions::instance().add_own(kReach, [](const Values& given) {
    const Reached reached = reach(given.at(0).toInt(), given.at(1).toIntVector());
    return c10::ivalue::Tuple::create({at::IValue(c10::List<std::int64_t>(at::ArrayRef<std::int64_t>(reached.receives))),
                                       at::IValue(c10::List<std::int64_t>(at::ArrayRef<std::int64_t>(reached.workers)))});
  });
  Functions::instance().add_own(kKeep, [](const Values& given) {
    if (const ContextPtr context = context_if_any(given.at(0).toInt())) keep_sends(context, given.at(1).toIntVector());
    return at::IValue();
  });
}

void keep_what_is_used(const ContextPtr& context, const std::vector<at::Tensor>& roots) {
  const WithContext none(-1);
  const auto session = Session::current();
  const std::int64_t self = session->self().id, id = context->contextId();
  std::set<std::int64_t> used, workers{self};
  for (const auto worker : context->getKnownWorkerIds()) workers.insert(worker);
  const auto add = [&](const Numbers& more, std::set<std::int64_t>& fresh) {
    for (const std::int64_t number : more) {
      if (used.insert(number).second) fresh.insert(number);
    }
  };
  std::set<std::int64_t> fresh;
  add(receives_from_roots(context, roots), fresh);
  // A worker that is heard of late is asked for all.
  std::map<std::int64_t, bool> asked;
  for (bool is_new_worker = false; !fresh.empty() || is_new_worker;) {
    is_new_worker = false;
    std::vector<Future> answers;
    for (const std::int64_t worker : workers) {
      const bool was_asked = asked[worker];
      asked[worker] = true;
      if (was_asked && fresh.empty()) continue;
      answers.push_back(rpc_async(session->workers()[static_cast<std::size_t>(worker)].name, kReach,
                                  {id, as_list(was_asked ? fresh : used)}));
    }
    fresh.clear();
    for (const Future& answer : answers) {
      const at::IValue reached = answer.wait();
      add(numbers_in(reached, 0), fresh);
      for (const std::int64_t worker : numbers_in(reached, 1)) {
        if (worker < 0 || worker >= static_cast<std::int64_t>(session->workers().size())) {
          throw Error(ErrorCode::kDataLoss, "distributed backward: a worker speaks of worker " + std::to_string(worker) +
                                                ", which there is not; start the same version on every worker");
        }
        is_new_worker = workers.insert(worker).second || is_new_worker;
      }
    }
  }
  std::vector<Future> done;
  for (const std::int64_t worker : workers) {
    done.push_back(rpc_async(session->workers()[static_cast<std::size_t>(worker)].name, kKeep, {id, as_list(used)}));
  }
  for (const Future& one : done) one.wait();
}

}  // namespace tandem::rpc
