// How functions of the program go through the C ABI: what they throw becomes an error that carries it.
#pragma once

#include <exception>
#include <new>

#include "tandem/abi/error.hpp"

namespace tandem::abi::callback {

// The error for the exception in flight, which it carries.
inline tdm_error* thrown() {
  const auto carry = [](tdm_error_code code, const char* operation, const char* message) {
    return tdm_error_create(code, operation, message, new std::exception_ptr(std::current_exception()), drop_exception);
  };
  try {
    throw;
  } catch (const Error& error) {
    return carry(error.code(), error.operation().c_str(), error.message().c_str());
  } catch (const std::bad_alloc& error) {
    return carry(TDM_ERROR_OUT_OF_MEMORY, nullptr, error.what());
  } catch (const std::exception& error) {
    return carry(TDM_ERROR_CALLBACK, nullptr, error.what());
  } catch (...) {
    return carry(TDM_ERROR_CALLBACK, nullptr, "it threw what is no std::exception");
  }
}

template <typename Body>
tdm_error* guarded(Body&& body) {
  try {
    body();
    return nullptr;
  } catch (...) {
    return thrown();
  }
}

template <typename T>
void destroy(void* user_data) {
  delete static_cast<T*>(user_data);
}

}  // namespace tandem::abi::callback
