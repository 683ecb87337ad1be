#include "tandem/dist_autograd.h"

#include <torch/csrc/distributed/autograd/autograd.h>
#include <torch/csrc/distributed/autograd/context/container.h>

#include <string>

#include "base/invalid.h"
#include "rpc/failure_value.h"
#include "rpc/function_pool.h"
#include "rpc/session.h"
#include "rpc/streams.h"
#include "rpc/used_graph.h"

namespace tandem::rpc {
namespace {

namespace torch_autograd = torch::distributed::autograd;
using torch_autograd::DistAutogradContainer;

torch_autograd::ContextPtr find_context(std::int64_t id) {
  Session::current();
  try {
    return DistAutogradContainer::getInstance().retrieveContext(id);
  } catch (const std::exception&) {
    throw Error(ErrorCode::kNotFound, "there is no distributed autograd context " + std::to_string(id) +
                                          " on this worker: it is over, or no call brought it here");
  }
}

}  // namespace

std::int64_t new_context() {
  Session::current();
  auto& container = DistAutogradContainer::getInstance();
  // LibTorch makes it the thread's, and refuses to where there is one.
  const WithContext none(-1);
  return container.newContext()->contextId();
}

void release_context(std::int64_t context) {
  forget_sends(context);
  try {
    DistAutogradContainer::getInstance().releaseContextIfPresent(context);
  } catch (const std::exception&) {
    // Those that are gone keep nothing.
  }
}

std::int64_t current_context() {
  return DistAutogradContainer::currentContextId();
}

std::int64_t context_count() {
  Session::current();
  return static_cast<std::int64_t>(DistAutogradContainer::getInstance().numAutogradContexts());
}

WithContext::WithContext(std::int64_t context) : outer_(current_context()) {
  DistAutogradContainer::forceCurrentContextId(context);
}

WithContext::~WithContext() {
  DistAutogradContainer::forceCurrentContextId(outer_);
}

AutogradContext::AutogradContext() : id_(new_context()), outer_(current_context()) {
  DistAutogradContainer::forceCurrentContextId(id_);
}

AutogradContext::~AutogradContext() {
  release_context(id_);
  DistAutogradContainer::forceCurrentContextId(outer_);
}

void AutogradContext::backward(const std::vector<at::Tensor>& roots, bool retain_graph) const {
  dist_backward(id_, roots, retain_graph);
}

std::vector<std::pair<at::Tensor, at::Tensor>> AutogradContext::gradients() const {
  return dist_gradients(id_);
}

void dist_backward(std::int64_t context, const std::vector<at::Tensor>& roots, bool retain_graph) {
  const auto session = Session::current();
  const auto found = find_context(context);
  if (roots.empty()) invalid("backward needs at least one root");
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const at::Tensor& root = roots[i];
    if (!root.defined() || root.numel() != 1 || !root.requires_grad()) {
      invalid("root " + std::to_string(i) + " of backward must be a tensor of one number that requires gradients");
    }
  }
  keep_what_is_used(found, roots);
  try {
    const FunctionPool::Wait wait;  // for other workers, most of the time
    torch_autograd::backward(context, roots, retain_graph);
  } catch (const std::exception& thrown) {
    const Error error = transport_failure(thrown, session->has_left());
    throw Error(error.code() == ErrorCode::kInternal ? ErrorCode::kInvalidArgument : error.code(),
                std::string("distributed backward: ") + error.what());
  }
}

std::vector<std::pair<at::Tensor, at::Tensor>> dist_gradients(std::int64_t context) {
  std::vector<std::pair<at::Tensor, at::Tensor>> all;
  const auto found = find_context(context);
  // LibTorch waits for the last gradient of each GPU, and others may come from other streams.
  finish_all(Session::current()->devices().own);
  for (const auto& item : found->getGradients()) all.emplace_back(item.key(), item.value());
  return all;
}

}  // namespace tandem::rpc
