// Key-value stores.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/call/timeout.h"
#include "core/comm/groups.h"

using namespace tandem::capi;
using tandem::Store;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::chrono::milliseconds to_timeout(std::int64_t timeout_ms, const char* argument) {
  if (timeout_ms <= 0)
    invalid(std::string("argument '") + argument + "' is " + std::to_string(timeout_ms) +
            "; it must be more than 0 ms");
  return to_wait(timeout_ms);
}

Store& unwrap_store(const tdm_store* store) {
  return const_cast<tdm_store*>(not_null(store, "store"))->store;
}

std::string quoted(const std::vector<std::string>& keys) {
  std::string list;
  for (const auto& key : keys) list += (list.empty() ? "'" : ", '") + key + "'";
  return list;
}

// Runs `body` and names `what` in whatever goes wrong.
template <typename Body>
auto on_store(const std::string& what, Body&& body) {
  try {
    return body();
  } catch (...) {
    tandem::rethrow_store_error(what);
  }
}

tdm_store* make_handle(Store store) {
  auto* handle = new tdm_store;
  handle->store = std::move(store);
  return handle;
}

}  // namespace

tdm_error* tdm_store_tcp(const char* host, uint16_t port, const tdm_tcp_store_options* options, tdm_store** out) {
  return guard("tdm_store_tcp", [&] {
    not_null(host, "host");
    not_null(out, "out");
    const auto given =
        read_options<tdm_tcp_store_options>(options, TDM_TCP_STORE_OPTIONS_INIT, "tdm_tcp_store_options");
    tandem::TCPStoreOptions native;
    native.is_server = given.is_server != 0;
    native.world_size = given.world_size;
    native.wait_workers = given.wait_workers != 0;
    native.timeout = to_timeout(given.timeout_ms, "timeout_ms");
    native.listen_fd = given.listen_fd;
    *out = make_handle(tandem::tcp_store(host, port, native));
  });
}

tdm_error* tdm_store_file(const char* path, int32_t world_size, tdm_store** out) {
  return guard("tdm_store_file", [&] {
    not_null(path, "path");
    not_null(out, "out");
    if (world_size < 0) invalid("argument 'world_size' is " + std::to_string(world_size) + "; it must be 0 or more");
    *out = make_handle(tandem::file_store(path, world_size));
  });
}

tdm_error* tdm_store_hash(tdm_store** out) {
  return guard("tdm_store_hash", [&] {
    not_null(out, "out");
    *out = make_handle(tandem::hash_store());
  });
}

tdm_error* tdm_store_prefix(const char* prefix, const tdm_store* store, tdm_store** out) {
  return guard("tdm_store_prefix", [&] {
    not_null(prefix, "prefix");
    not_null(out, "out");
    *out = make_handle(tandem::prefix_store(prefix, unwrap_store(store)));
  });
}

void tdm_store_free(tdm_store* store) {
  tandem::capi::free_handle(store);
}

uint16_t tdm_store_port(const tdm_store* store) {
  return if_live(store) ? tandem::store_port(store->store) : 0;
}

tdm_error* tdm_store_set(tdm_store* store, const char* key, const void* data, size_t size) {
  return guard("tdm_store_set", [&] {
    Store& target = unwrap_store(store);
    not_null(key, "key");
    if (size > kMaxCount) {
      invalid("argument 'size' is " + std::to_string(size) + "; a store's value has at most " +
              std::to_string(kMaxCount) + " bytes");
    }
    if (size != 0) not_null(data, "data");
    const auto* begin = static_cast<const std::uint8_t*>(data);
    on_store("set of key '" + std::string(key) + "'",
             [&] { target->set(key, size ? Bytes(begin, begin + size) : Bytes()); });
  });
}

tdm_error* tdm_store_get(tdm_store* store, const char* key, tdm_string** out) {
  return guard("tdm_store_get", [&] {
    Store& target = unwrap_store(store);
    not_null(key, "key");
    not_null(out, "out");
    const Bytes value = on_store("get of key '" + std::string(key) + "'", [&] { return target->get(key); });
    *out = make_string(std::string(value.begin(), value.end()));
  });
}

tdm_error* tdm_store_add(tdm_store* store, const char* key, int64_t amount, int64_t* out) {
  return guard("tdm_store_add", [&] {
    Store& target = unwrap_store(store);
    not_null(key, "key");
    const std::int64_t sum =
        on_store("add to key '" + std::string(key) + "'", [&] { return target->add(key, amount); });
    if (out) *out = sum;
  });
}

tdm_error* tdm_store_check(tdm_store* store, const char* const* keys, size_t count, int32_t* out) {
  return guard("tdm_store_check", [&] {
    Store& target = unwrap_store(store);
    not_null(out, "out");
    const auto list = to_strings(keys, count, "keys");
    *out = on_store("check of keys " + quoted(list), [&] { return target->check(list); });
  });
}

tdm_error* tdm_store_delete(tdm_store* store, const char* key, int32_t* out) {
  return guard("tdm_store_delete", [&] {
    Store& target = unwrap_store(store);
    not_null(key, "key");
    const bool deleted = on_store("delete of key '" + std::string(key) + "'", [&] { return target->deleteKey(key); });
    if (out) *out = deleted;
  });
}

tdm_error* tdm_store_wait(tdm_store* store, const char* const* keys, size_t count, int64_t timeout_ms) {
  return guard("tdm_store_wait", [&] {
    Store& target = unwrap_store(store);
    const auto list = to_strings(keys, count, "keys");
    const auto timeout = to_timeout(timeout_ms, "timeout_ms");
    on_store("wait for keys " + quoted(list), [&] { target->wait(list, timeout); });
  });
}

static std::string value_of(const void* data, size_t size, const char* argument) {
  if (size > kMaxCount) {
    invalid(std::string("argument '") + argument + "' has " + std::to_string(size) +
            " bytes; a store's value has at most " + std::to_string(kMaxCount));
  }
  return size ? std::string(static_cast<const char*>(not_null(data, argument)), size) : std::string();
}

tdm_error* tdm_store_compare_set(tdm_store* store, const char* key, const void* expected, size_t expected_size,
                                 const void* desired, size_t desired_size, tdm_string** out) {
  return guard("tdm_store_compare_set", [&] {
    Store& target = unwrap_store(store);
    not_null(key, "key");
    const std::string before = value_of(expected, expected_size, "expected");
    const std::string after = value_of(desired, desired_size, "desired");
    const std::string now = on_store("compare-and-set of key '" + std::string(key) + "'",
                                     [&] { return target->compareSet(key, before, after); });
    if (out) *out = make_string(now);
  });
}

tdm_error* tdm_store_set_timeout(tdm_store* store, int64_t timeout_ms) {
  return guard("tdm_store_set_timeout", [&] { unwrap_store(store)->setTimeout(to_timeout(timeout_ms, "timeout_ms")); });
}
