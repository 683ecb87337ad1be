#include "ddp/replicas/failure.h"

#include <c10/util/Exception.h>

#include <sstream>
#include <string>
#include <typeinfo>

#include "tandem/error.h"

namespace tandem::internal {

std::string place_of(int replica, int count, const char* doing, const std::vector<at::Tensor>& given) {
  std::ostringstream text;
  text << doing << " of replica " << replica << " of " << count;
  const char* separator = ", which was given ";
  for (const at::Tensor& tensor : given) {
    if (!tensor.defined()) continue;
    text << separator << tensor.scalar_type() << tensor.sizes();
    separator = ", ";
  }
  return text.str();
}

void rethrow_from(int replica, int count, const char* doing, const std::vector<at::Tensor>& given) {
  const std::string where = "in " + place_of(replica, count, doing, given);
  try {
    throw;
  } catch (c10::Error& error) {
    error.add_context(where);
    throw;
  } catch (const Error& error) {
    if (typeid(error) != typeid(Error)) throw;
    throw Error(error.code(), where + ": " + error.what());
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kCallback, where + ": " + error.what());
  }
}

}  // namespace tandem::internal
