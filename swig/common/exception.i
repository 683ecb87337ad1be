// One handler for every wrapped function: tandem::abi::Error, and anything else that C++ throws, becomes the language's
// exception. The language defines
//   void tandem_throw(TANDEM_ENVIRONMENT, int32_t code, const char* operation, const char* message)
//   void tandem_throw(TANDEM_ENVIRONMENT, const tandem::abi::Error& error)
// and the macros TANDEM_ENVIRONMENT_ARGUMENT (what is passed to them) and TANDEM_FAIL (leaves the wrapper).
%{
#include "call_gate.h"
%}

%exception {
  try {
    tandem_swig::Call tandem_call("$symname");
    $action
  } catch (const tandem::abi::Error& error) {
    tandem_throw(TANDEM_ENVIRONMENT_ARGUMENT, error);
    TANDEM_FAIL;
  } catch (const std::bad_alloc&) {
    tandem_throw(TANDEM_ENVIRONMENT_ARGUMENT, TDM_ERROR_OUT_OF_MEMORY, "$symname", "out of memory");
    TANDEM_FAIL;
  } catch (const std::exception& error) {
    tandem_throw(TANDEM_ENVIRONMENT_ARGUMENT, TDM_ERROR_INTERNAL, "$symname", error.what());
    TANDEM_FAIL;
  }
}

// The end of the program: see call_gate.h.
%rename(shutdown) tandem_swig::leave;
%exception tandem_swig::leave {
  try {
    $action
  } catch (const tandem::abi::Error& error) {
    tandem_throw(TANDEM_ENVIRONMENT_ARGUMENT, error);
    TANDEM_FAIL;
  }
}
namespace tandem_swig {
bool leave(int64_t timeout_ms);
}
