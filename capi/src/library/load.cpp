// libtandem's own functions: errors, loading, leaving. Everything else is forwarded to the core.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "core/call/options.h"
#include "core/call/table.h"
#include "error_object.h"
#include "library/cuda.h"
#include "library/find_libtorch.h"
#include "library/slots.h"
#include "tandem/error.h"

namespace fs = std::filesystem;
using tandem::Error;
using tandem::ErrorCode;
using namespace tandem::loader;

int tandem_state = TANDEM_NOT_LOADED;

static std::int64_t live_errors = 0;
std::int64_t* tandem_live_errors = &live_errors;

namespace {

constexpr const char* kCorePrefix = "libtandem_core-torch";

// What was loaded; guarded by `mutex` until tandem_state is READY, constant afterwards.
struct Loaded {
  std::mutex mutex;
  std::string wanted;
  tdm_load_device device = TDM_LOAD_DEVICE_AUTO;
  std::string version;
  decltype(&tandem_core_stop) stop = nullptr;
};

// Never destroyed: native threads may outlive static destructors. Needs no memory.
Loaded& loaded() noexcept {
  alignas(Loaded) static unsigned char place[sizeof(Loaded)];
  static auto* instance = new (place) Loaded;
  return *instance;
}

std::string minor_of(const std::string& version) {
  return version.substr(0, version.rfind('.'));
}

// The cores that stand beside libtandem, by the minor version of LibTorch they were built for.
std::map<std::string, std::string> cores() {
  std::map<std::string, std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(own_folder(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kCorePrefix, 0) != 0 || entry.path().extension() != ".so") continue;
    const std::string prefix = kCorePrefix;
    found[name.substr(prefix.size(), name.size() - prefix.size() - 3)] = entry.path().string();
  }
  return found;
}

std::string core_for(const LibTorch& libtorch) {
  const auto available = cores();
  std::string versions;
  for (const auto& [version, path] : available) versions += (versions.empty() ? "" : ", ") + version;
  if (available.empty()) {
    throw Error(ErrorCode::kLibrary, std::string("no core (") + kCorePrefix + "*.so) stands beside libtandem in " +
                                         own_folder() + "; install Tandem again");
  }
  if (libtorch.version.empty()) {
    throw Error(ErrorCode::kLibrary, "cannot tell the version of the LibTorch in " + libtorch.root +
                                         " (neither version.py nor build-version is there); Tandem has cores for " +
                                         versions);
  }
  const auto found = available.find(minor_of(libtorch.version));
  if (found == available.end()) {
    const std::string what =
        "LibTorch " + libtorch.version + " in " + libtorch.root +
        (libtorch.was_loaded ? ", which this process loaded before Tandem (Python's torch, or the program's own),"
                             : "");
    throw Error(
        ErrorCode::kLibrary,
        what + " does not fit: this Tandem has cores for LibTorch " + versions + "; " +
            (libtorch.was_loaded ? "a second copy beside it would corrupt both: have the process load one of these "
                                   "versions, or install a Tandem with a core for this one"
                                 : "set TANDEM_LIBTORCH to one of these versions"));
  }
  return found->second;
}

void* open_library(const std::string& path, int flags) {
  void* handle = dlopen(path.c_str(), flags);
  if (!handle) throw Error(ErrorCode::kLibrary, "cannot load " + path + ": " + dlerror());
  return handle;
}

template <typename F>
F symbol(void* handle, const char* name, const std::string& path) {
  void* found = dlsym(handle, name);
  if (!found) throw Error(ErrorCode::kLibrary, path + " lacks " + name + ": it is not a core of this Tandem");
  return reinterpret_cast<F>(found);
}

// Loader and core are parts of one release: what they tell each other may differ in another.
void check_release(void* handle, const std::string& path) {
  const auto release = reinterpret_cast<decltype(&tandem_core_release)>(dlsym(handle, "tandem_core_release"));
  const std::string theirs = release ? release() : "unknown";
  if (theirs == tdm_version()) return;
  throw Error(ErrorCode::kLibrary, "libtandem in " + own_folder() + " is of release " + tdm_version() +
                                       ", but its core " + path + " is of release " + theirs +
                                       "; install both from one release, into an empty folder");
}

void fill_slots(decltype(&tandem_core_table) table) {
  size_t count = 0;
  const tandem_entry* entries = table(&count);
  std::map<std::string, tandem_function> by_name;
  for (size_t i = 0; i < count; ++i) by_name[entries[i].name] = entries[i].function;
  for (size_t i = 0; i < tandem_slot_count; ++i) {
    const auto found = by_name.find(tandem_slot_names[i]);
    if (found != by_name.end()) tandem_slots[i] = found->second;
  }
}

void load_locked(Loaded& state, const tdm_load_options& options) {
  const bool from_options = options.libtorch && *options.libtorch;
  const std::string wanted = from_options ? options.libtorch : environment("TANDEM_LIBTORCH");
  const LibTorch libtorch = find_libtorch(wanted, from_options ? "tdm_load_options.libtorch" : "TANDEM_LIBTORCH");
  const std::string core = core_for(libtorch);
  const std::string folder = fs::path(libtorch.library).parent_path().string();

  // By full path first, so that the core's own needs are met by this copy.
  open_library(folder + "/libc10.so", RTLD_LAZY | RTLD_GLOBAL);
  open_library(libtorch.library, RTLD_LAZY | RTLD_GLOBAL);
  const CudaDecision cuda = decide_cuda(options.device, folder);
  void* handle = open_library(core, RTLD_NOW | RTLD_LOCAL);
  check_release(handle, core);

  auto start = symbol<decltype(&tandem_core_start)>(handle, "tandem_core_start", core);
  auto table = symbol<decltype(&tandem_core_table)>(handle, "tandem_core_table", core);
  state.stop = symbol<decltype(&tandem_core_stop)>(handle, "tandem_core_stop", core);
  start(libtorch.version.c_str(), cuda.use, cuda.reason.c_str(), &live_errors);
  fill_slots(table);
  state.version = libtorch.version;
  state.wanted = options.libtorch ? options.libtorch : "";
  state.device = options.device;
  __atomic_store_n(&tandem_state, TANDEM_READY, __ATOMIC_RELEASE);
}

tdm_error* load(const char* operation, const tdm_load_options* given) {
  try {
    const auto options = tandem::capi::read_options<tdm_load_options>(given, TDM_LOAD_OPTIONS_INIT, "tdm_load_options");
    if (options.device < TDM_LOAD_DEVICE_AUTO || options.device > TDM_LOAD_DEVICE_CUDA) {
      throw Error(ErrorCode::kInvalidArgument,
                  "options->device is " + std::to_string(options.device) + ", which is no TDM_LOAD_DEVICE");
    }
    Loaded& state = loaded();
    std::lock_guard<std::mutex> lock(state.mutex);
    // Shutdown does not hold the lock while it waits, so that a call meanwhile is refused at once.
    switch (__atomic_load_n(&tandem_state, __ATOMIC_ACQUIRE)) {
      case TANDEM_NOT_LOADED:
        load_locked(state, options);
        return nullptr;
      case TANDEM_CLOSED:
        throw Error(ErrorCode::kClosed, "Tandem was shut down (tdm_shutdown) before this call");
      default:
        if (given && ((options.libtorch && state.wanted != options.libtorch) || options.device != state.device)) {
          throw Error(ErrorCode::kLibrary,
                      "Tandem is already loaded with other options; load it once, before the "
                      "first other call");
        }
        return nullptr;
    }
  } catch (const Error& error) {
    return tandem_error_new(static_cast<tdm_error_code>(error.code()), operation, error.what());
  } catch (const std::bad_alloc&) {
    return tandem_error_new(TDM_ERROR_OUT_OF_MEMORY, operation, "out of memory while LibTorch was looked for");
  } catch (const std::exception& error) {
    return tandem_error_new(TDM_ERROR_INTERNAL, operation, error.what());
  } catch (...) {
    return tandem_error_new(TDM_ERROR_INTERNAL, operation, "an exception that is no std::exception");
  }
}

}  // namespace

tdm_error* tandem_make_ready(const char* operation) {
  return load(operation, nullptr);
}

tdm_error* tandem_missing(const char* operation) {
  try {
    return tandem_error_new(TDM_ERROR_LIBRARY, operation,
                            ("the core for LibTorch " + loaded().version + " beside libtandem in " + own_folder() +
                             " is of another release and lacks this function; install both from one release")
                                .c_str());
  } catch (...) {
    return tandem_error_new(TDM_ERROR_LIBRARY, operation,
                            "the core is of another release and lacks this function; install both from one release");
  }
}

tdm_error* tdm_load(const tdm_load_options* options) {
  return load("tdm_load", options);
}

tdm_error* tdm_shutdown(int64_t timeout_ms) {
  Loaded& state = loaded();
  decltype(&tandem_core_stop) stop = nullptr;
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    __atomic_store_n(&tandem_state, TANDEM_CLOSED, __ATOMIC_RELEASE);
    stop = state.stop;
  }
  // Again after a timeout: the caller may wait longer.
  return stop ? stop(timeout_ms) : nullptr;
}

#define TANDEM_TEXT_(x) #x
#define TANDEM_TEXT(x) TANDEM_TEXT_(x)

const char* tdm_version(void) {
  return TANDEM_TEXT(TDM_VERSION_MAJOR) "." TANDEM_TEXT(TDM_VERSION_MINOR) "." TANDEM_TEXT(TDM_VERSION_PATCH);
}

const char* tdm_libtorch_version(void) {
  return tandem_is_ready() ? loaded().version.c_str() : "";
}

tdm_error_code tdm_error_get_code(const tdm_error* error) {
  return error ? error->code : 0;
}
const char* tdm_error_operation(const tdm_error* error) {
  return error ? error->operation : "";
}
const char* tdm_error_message(const tdm_error* error) {
  return error ? error->message : "";
}

tdm_error* tdm_error_create(tdm_error_code code, const char* operation, const char* message, void* user_data,
                            void (*destroy)(void* user_data)) {
  tdm_error* error = tandem_error_new(code, operation && *operation ? operation : "callback", message ? message : "");
  if (!*error->operation) {
    if (destroy) destroy(user_data);
    return error;
  }
  error->user_data = user_data;
  error->destroy = destroy;
  return error;
}

void* tdm_error_user_data(const tdm_error* error, void (*destroy)(void* user_data)) {
  return error && error->destroy == destroy ? error->user_data : nullptr;
}

void tdm_error_free(tdm_error* error) {
  tandem_error_release(error);
}
