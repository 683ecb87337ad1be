#include "tandem/parameter_server.h"

#include <mutex>

#include "base/invalid.h"
#include "parameter_server/calls.h"
#include "parameter_server/server.h"
#include "rpc/functions.h"

namespace tandem {
namespace parameter_server {
namespace {

// The process's server; functions that trainers call outlive it.
struct ServerOfProcess {
  std::mutex mutex;
  std::shared_ptr<Server> server;
};

ServerOfProcess& of_process() {
  static auto* instance = new ServerOfProcess;
  return *instance;
}

std::shared_ptr<Server> current_server() {
  const std::lock_guard<std::mutex> lock(of_process().mutex);
  if (of_process().server) return of_process().server;
  throw Error(ErrorCode::kNotFound, "this worker has no ParameterServer any more");
}

void register_server_functions() {
  const auto add = [](const char* name, at::IValue (Server::*function)(const rpc::Values&)) {
    rpc::Functions::instance().add_own(
        name, [function](const rpc::Values& given) { return (*current_server().*function)(given); });
  };
  add(kJoin, &Server::join);
  add(kAdmit, &Server::admit);
  add(kLeave, &Server::leave);
  add(kRead, &Server::read);
  add(kPush, &Server::push);
  add(kLook, &Server::look);
  add(kSetOption, &Server::set_option);
  add(kReadState, &Server::read_state);
  add(kWriteState, &Server::write_state);
  add(rpc::kStays, &Server::stays);
}

}  // namespace
}  // namespace parameter_server

struct ParameterServer::Parts {
  std::shared_ptr<parameter_server::Server> server;
};

ParameterServer::ParameterServer(const ParameterServerOptions& options) : parts_(std::make_unique<Parts>()) {
  using namespace parameter_server;
  if (options.most_bytes < 0) {
    invalid("ParameterServerOptions::most_bytes is " + std::to_string(options.most_bytes) + "; it must be 0 or more");
  }
  const std::lock_guard<std::mutex> lock(of_process().mutex);
  if (of_process().server) invalid("this process has a ParameterServer already");
  parts_->server = of_process().server = std::make_shared<Server>(options.most_bytes);
  register_server_functions();
}

ParameterServer::~ParameterServer() {
  const std::lock_guard<std::mutex> lock(parameter_server::of_process().mutex);
  parameter_server::of_process().server.reset();
}

bool ParameterServer::wait(std::chrono::milliseconds timeout) {
  return parts_->server->wait(timeout);
}

ParameterServerStatistics ParameterServer::statistics() const {
  return parts_->server->statistics();
}

}  // namespace tandem
