#include <torch/csrc/distributed/rpc/rref_context.h>
#include <torch/csrc/distributed/rpc/rref_proto.h>
#include <torch/csrc/distributed/rpc/script_remote_call.h>

#include <cstdlib>
#include <utility>

#include "base/invalid.h"
#include "rpc/call.h"
#include "rpc/call_operator.h"
#include "rpc/failure_value.h"

namespace tandem::rpc {
namespace {

using torch_rpc::OwnerRRef;
using torch_rpc::RRefContext;
using torch_rpc::UserRRef;
using std::chrono::milliseconds;

// The owner's value, once it is there.
std::shared_ptr<FutureState> value_of(OwnerRRef& owner) {
  const auto state = std::make_shared<FutureState>(owner.getFuture()->devices());
  owner.getFuture()->addCallback([state](torch_rpc::JitFuture& done) {
    if (done.hasError()) return state->fail(Error(ErrorCode::kInternal, done.tryRetrieveErrorMessage()));
    const at::IValue value = done.constValue();
    if (const auto failure = failure_in(value)) return state->fail(*failure);
    state->succeed(value, c10::intrusive_ptr<torch_rpc::JitFuture>::reclaim_copy(&done));
  });
  return state;
}

milliseconds or_default(milliseconds timeout) {
  CallOptions options;
  options.timeout = timeout;
  return timeout_of(*Session::current(), options);
}

}  // namespace

struct RRefState {
  c10::intrusive_ptr<torch_rpc::RRef> native;
  std::string function;                  // that made it; "": another one's, or a value's
  std::shared_ptr<FutureState> created;  // null: nothing to wait for

  Worker owner() const { return worker(static_cast<int>(native->owner())); }
  // Throws what making it failed with, if that is known.
  void check_created() const {
    if (!created) return;
    if (const auto error = created->error()) throw *error;
  }
  [[noreturn]] void rethrow(const Error& error) const {
    throw on_worker(error, function.empty() ? "a reference" : function, owner().name);
  }
};

RRef::RRef(at::IValue value) : state_(std::make_shared<RRefState>()) {
  const auto session = Session::current();
  auto owner = RRefContext::getInstance().createOwnerRRef(c10::AnyType::get());
  owner->setValue(std::move(value));
  state_->native = owner;
}

RRef RRef::from(const at::IValue& value) {
  if (!value.isRRef()) invalid("this value is " + value.tagKind() + ", not a reference (RRef)");
  auto state = std::make_shared<RRefState>();
  state->native = c10::static_intrusive_pointer_cast<torch_rpc::RRef>(value.toRRef());
  return RRef(std::move(state));
}

Worker RRef::owner() const {
  return state_->owner();
}

bool RRef::is_owner() const {
  return state_->native->isOwner();
}

bool RRef::confirmed_by_owner() const {
  return state_->native->confirmedByOwner();
}

at::IValue RRef::value() const {
  Session::current();
  return at::IValue(c10::static_intrusive_pointer_cast<c10::RRefInterface>(state_->native));
}

at::IValue RRef::local_value(milliseconds timeout) const {
  if (!is_owner()) {
    invalid("the value is worker '" + owner().name + "'s: to_here() gives a copy of it, and a call there can use it");
  }
  state_->check_created();
  try {
    return value_of(static_cast<OwnerRRef&>(*state_->native))->wait(or_default(timeout));
  } catch (const Error& error) {
    state_->rethrow(error);
  }
}

at::IValue RRef::to_here(milliseconds timeout) const {
  if (is_owner()) return local_value(timeout);
  const auto session = Session::current();
  const auto limit = or_default(timeout);
  state_->check_created();
  check_context("to_here", owner().name);
  const auto state = std::make_shared<FutureState>(session->devices().own);
  try {
    const auto record = std::make_shared<CallRecord>(session, owner(), "to_here", CallRecord::Clock::now() + limit);
    auto message = torch_rpc::ScriptRRefFetchCall(static_cast<torch_rpc::worker_id_t>(session->self().id), state_->native->rrefId())
                       .toMessage();
    send(record, std::move(message), limit, [record, state](const Answer* answer, const Error* error) {
      if (error) {
        record->end(false);
        return state->fail(*error);
      }
      TORCH_CHECK(answer->type == torch_rpc::MessageType::SCRIPT_RREF_FETCH_RET, "the answer to a fetch is none");
      const auto& values = static_cast<torch_rpc::ScriptRRefFetchRet&>(answer->command).values();
      TORCH_CHECK(values.size() == 1, "a reference has one value");
      const auto failure = failure_in(values.front());
      record->end(!failure);
      if (failure) return state->fail(*failure);
      state->succeed(values.front(), answer->of);
    });
    return state->wait(milliseconds(0));
  } catch (const Error& error) {
    state_->check_created();
    state_->rethrow(error);
  }
}

RRef remote(const std::string& to, const std::string& function, Values arguments, const CallOptions& options) {
  auto session = Session::current();
  const Worker target = session->find(to);
  check_context(function, to);
  const auto timeout = timeout_of(*session, options);
  if (options.retries != 0) invalid(function + ": remote() takes no retries, for the value would be made twice");
  Values given;
  try {  // before there is a reference that would have to be taken back
    given = operands(*session, target, function, std::move(arguments));
  } catch (const Error& error) {
    throw on_worker(error, function, to);
  }
  std::shared_ptr<CallRecord> record;
  try {
    record = std::make_shared<CallRecord>(session, target, function, CallRecord::Clock::now() + timeout);
  } catch (const Error& error) {
    throw on_worker(error, function, to);
  }
  auto state = std::make_shared<RRefState>();
  state->function = function;
  state->created = std::make_shared<FutureState>();
  auto& context = RRefContext::getInstance();
  const bool is_own = target.id == session->self().id;
  c10::intrusive_ptr<OwnerRRef> owner;
  c10::intrusive_ptr<UserRRef> user;
  if (is_own) {
    state->native = owner = context.createOwnerRRef(c10::AnyType::get());
  } else {
    state->native = user = context.createUserRRef(static_cast<torch_rpc::worker_id_t>(target.id), c10::AnyType::get());
  }
  const torch_rpc::RRefId id = state->native->rrefId();
  const torch_rpc::ForkId fork = is_own ? id : user->forkId();
  auto message = torch_rpc::ScriptRemoteCall(call_operator_of_messages(), std::move(given), id, fork).toMessage();
  // Held until the owner has answered, in time or not: a deletion that came before the call would delete nothing.
  if (is_own) {
    context.addSelfAsFork(owner);
  } else {
    context.addPendingUser(fork, user);
  }
  owner.reset();
  user.reset();
  send(
      record, std::move(message), timeout,
      [record, created = state->created](const Answer*, const Error* failure) {
        record->end(!failure);
        if (failure) {
          created->fail(on_worker(*failure, record->function(), record->to().name));
        } else {
          created->succeed(at::IValue());
        }
      },
      [fork, is_own] {
        auto& context = RRefContext::getInstance();
        if (is_own) {
          context.delForkOfOwner(fork, fork);
        } else {
          context.delPendingUser(fork);
        }
      });
  return RRef(std::move(state));
}

RRefCounts rref_counts() {
  Session::current();
  const auto known = RRefContext::getInstance().getDebugInfo();
  const auto number = [&](const char* name) {
    const auto found = known.find(name);
    return found == known.end() ? 0 : std::atoll(found->second.c_str());
  };
  return {number("num_owner_rrefs"), number("num_forks"), number("num_pending_users")};
}

}  // namespace tandem::rpc
