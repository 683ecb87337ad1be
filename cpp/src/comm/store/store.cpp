#include "tandem/store.h"

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "comm/store/deadline_file_store.h"
#include "comm/store/deadline_store.h"
#include "comm/store/interruptible_store.h"
#include "comm/store/store_endpoint.h"
#include "tandem/error.h"

namespace tandem {
Store tcp_store(const std::string& host, std::uint16_t port, const TCPStoreOptions& options) {
  return open_tcp_store(host, port, options, /*served_by=*/"");
}

Store file_store(const std::string& path, int world_size) {
  return c10::make_intrusive<DeadlineFileStore>(path, world_size, c10d::Store::kDefaultTimeout);
}

Store hash_store() {
  return c10::make_intrusive<c10d::HashStore>();
}

Store prefix_store(const std::string& prefix, const Store& store) {
  if (!store) throw Error(ErrorCode::kInvalidArgument, "the store under prefix '" + prefix + "' is empty");
  return c10::make_intrusive<c10d::PrefixStore>(prefix, store);
}

std::uint16_t store_port(const Store& store) {
  return store_endpoint(store).port;
}

net::Endpoint store_endpoint(const Store& store) {
  Store base = store;
  for (;;) {
    if (auto* prefix = dynamic_cast<c10d::PrefixStore*>(base.get())) {
      base = prefix->getUnderlyingStore();
    } else if (auto* interruptible = dynamic_cast<InterruptibleStore*>(base.get())) {
      base = interruptible->underlying();
    } else {
      break;
    }
  }
  if (const auto* tcp = dynamic_cast<const DeadlineStore*>(base.get())) return tcp->endpoint();
  const auto* of_libtorch = dynamic_cast<const c10d::TCPStore*>(base.get());
  return of_libtorch ? net::Endpoint{of_libtorch->getHost(), of_libtorch->getPort()} : net::Endpoint();
}

bool is_store_timeout(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  const auto mentions = [&](const char* part) { return text.find(part) != std::string::npos; };
  return mentions("timeout") || mentions("Timeout") || mentions("timed out");
}

void rethrow_store_error(const std::string& what) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (is_store_timeout(error)) {
      throw Error(ErrorCode::kTimeout, what + " timed out: " + text);
    }
    if (dynamic_cast<const c10::DistNetworkError*>(&error)) {
      throw Error(ErrorCode::kPeerLost,
                  what + " failed, for the process that serves the store is gone or unreachable: " + text);
    }
    if (dynamic_cast<const c10::NotImplementedError*>(&error)) {
      throw Error(ErrorCode::kUnsupported, what + ": this kind of store cannot do it");
    }
    throw Error(ErrorCode::kIo, what + " failed: " + text);
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kIo, what + " failed: " + error.what());
  }
}

}  // namespace tandem
