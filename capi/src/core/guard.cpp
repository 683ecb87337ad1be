#include "core/guard.h"

#include <c10/util/Exception.h>

#include <new>

namespace tandem::capi {

tdm_error* current_error(const char* operation) {
  try {
    throw;
  } catch (const Error& error) {
    return tandem_error_new(static_cast<tdm_error_code>(error.code()), operation, error.what());
  } catch (const c10::IndexError& error) {
    return tandem_error_new(TDM_ERROR_OUT_OF_RANGE, operation, error.what_without_backtrace());
  } catch (const c10::OutOfMemoryError& error) {
    return tandem_error_new(TDM_ERROR_OUT_OF_MEMORY, operation, error.what_without_backtrace());
  } catch (const c10::NotImplementedError& error) {
    return tandem_error_new(TDM_ERROR_UNSUPPORTED, operation, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    // LibTorch's checks on arguments are plain c10::Error; its own defects carry "INTERNAL ASSERT".
    const std::string message = error.what_without_backtrace();
    const bool internal = message.find("INTERNAL ASSERT") != std::string::npos;
    return tandem_error_new(internal ? TDM_ERROR_INTERNAL : TDM_ERROR_INVALID_ARGUMENT, operation, message.c_str());
  } catch (const std::bad_alloc&) {
    return tandem_error_new(TDM_ERROR_OUT_OF_MEMORY, operation, "out of memory");
  } catch (const std::exception& error) {
    return tandem_error_new(TDM_ERROR_INTERNAL, operation, error.what());
  } catch (...) {
    return tandem_error_new(TDM_ERROR_INTERNAL, operation, "an exception that is no std::exception");
  }
}

tdm_error* closed_error(const char* operation) {
  return tandem_error_new(TDM_ERROR_CLOSED, operation, "Tandem was shut down (tdm_shutdown) before this call");
}

}  // namespace tandem::capi
