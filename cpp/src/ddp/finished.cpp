#include <sstream>

#include "ddp/parts.h"
#include "tandem/error.h"

namespace tandem {

// LibTorch's long message about parameters without gradient, as an error with their names.
void DataParallelReducer::Parts::check_finished() {
  try {
    reducer->check_finalized();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (text.find("finished reduction in the prior iteration") == std::string::npos) throw;
    std::string missing;
    const std::string mark = "did not receive grad for rank " + std::to_string(group->rank()) + ":";
    const auto at = text.find(mark);
    std::istringstream numbers(at == std::string::npos ? "" : text.substr(at + mark.size()));
    for (std::size_t index; numbers >> index;) {
      if (index < trained_names.size()) missing += (missing.empty() ? "" : ", ") + trained_names[index];
    }
    throw Error(ErrorCode::kInvalidArgument,
                "the backward before this forward gave no gradient to " +
                    (missing.empty() ? std::string("some parameters") : missing) +
                    ", so that ranks have not exchanged all gradients and are no longer alike; set "
                    "find_unused_parameters when a step may leave parameters out, make sure that the loss comes from "
                    "this module's outputs, and make a new DistributedDataParallel after a backward that failed");
  }
}

}  // namespace tandem
