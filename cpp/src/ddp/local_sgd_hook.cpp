#include <algorithm>

#include "ddp/reduce.h"
#include "tandem/error.h"

namespace tandem {

CommHook post_local_sgd_hook(std::shared_ptr<ProcessGroup> group, std::shared_ptr<ProcessGroup> subgroup,
                             const PostLocalSgdOptions& options) {
  if (!group || (!subgroup && options.post_local_gradient_allreduce)) {
    throw Error(ErrorCode::kInvalidArgument,
                "post_local_sgd_hook needs a group, and a subgroup or post_local_gradient_allreduce off");
  }
  const auto iteration = std::make_shared<std::int64_t>(0);
  return [group = std::move(group), subgroup = std::move(subgroup), options,
          iteration](c10d::GradBucket& bucket) -> Exchange {
    const at::Tensor buffer = bucket.getBuffer();
    const bool globally = *iteration < options.start_local_sgd_iter;
    if (bucket.isLast()) ++*iteration;
    if (globally) return reduce_mean(*group, buffer);
    if (options.post_local_gradient_allreduce) return reduce_mean(*subgroup, buffer);
    return {{}, {}, buffer};
  };
}

}  // namespace tandem
