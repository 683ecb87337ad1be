// Collectives that autograd sees.
#include "tandem/differentiable_collectives.h"

#include "core/comm/groups.h"

using namespace tandem::capi;
namespace differentiable = tandem::differentiable;

namespace {

void check_out(tdm_tensor** out, std::size_t count, const tandem::ProcessGroup& group) {
  not_null(out, "out");
  if (count == static_cast<std::size_t>(group.size())) return;
  invalid("argument 'out_count' is " + std::to_string(count) + "; it must be " + std::to_string(group.size()) +
          ", the group's size");
}

void hand_over_tensors(const std::vector<at::Tensor>& tensors, tdm_tensor** out) {
  for (std::size_t i = 0; i < tensors.size(); ++i) out[i] = make_tensor_handle(tensors[i]);
}

}  // namespace

tdm_error* tdm_differentiable_broadcast(tdm_process_group* group, const tdm_tensor* tensor, int32_t root,
                                        tdm_tensor** out) {
  return guard("tdm_differentiable_broadcast", [&] {
    not_null(out, "out");
    *out = make_tensor_handle(differentiable::broadcast(share_group(group), unwrap(tensor, "tensor"), root));
  });
}

tdm_error* tdm_differentiable_all_reduce(tdm_process_group* group, const tdm_tensor* tensor, tdm_reduce_op op,
                                         tdm_tensor** out) {
  return guard("tdm_differentiable_all_reduce", [&] {
    not_null(out, "out");
    *out =
        make_tensor_handle(differentiable::all_reduce(share_group(group), unwrap(tensor, "tensor"), to_reduce_op(op)));
  });
}

tdm_error* tdm_differentiable_reduce(tdm_process_group* group, const tdm_tensor* tensor, int32_t root, tdm_reduce_op op,
                                     tdm_tensor** out) {
  return guard("tdm_differentiable_reduce", [&] {
    not_null(out, "out");
    *out = make_tensor_handle(
        differentiable::reduce(share_group(group), unwrap(tensor, "tensor"), root, to_reduce_op(op)));
  });
}

tdm_error* tdm_differentiable_gather(tdm_process_group* group, const tdm_tensor* tensor, int32_t root, tdm_tensor** out,
                                     size_t out_count) {
  return guard("tdm_differentiable_gather", [&] {
    check_out(out, out_count, unwrap_group(group));
    hand_over_tensors(differentiable::gather(share_group(group), unwrap(tensor, "tensor"), root), out);
  });
}

tdm_error* tdm_differentiable_scatter(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count,
                                      int32_t root, tdm_tensor** out) {
  return guard("tdm_differentiable_scatter", [&] {
    not_null(out, "out");
    *out = make_tensor_handle(
        differentiable::scatter(share_group(group), unwrap_list(tensors, tensor_count, "tensors"), root));
  });
}

tdm_error* tdm_differentiable_all_gather(tdm_process_group* group, const tdm_tensor* tensor, tdm_tensor** out,
                                         size_t out_count) {
  return guard("tdm_differentiable_all_gather", [&] {
    check_out(out, out_count, unwrap_group(group));
    hand_over_tensors(differentiable::all_gather(share_group(group), unwrap(tensor, "tensor")), out);
  });
}

tdm_error* tdm_differentiable_reduce_scatter(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count,
                                             tdm_reduce_op op, tdm_tensor** out) {
  return guard("tdm_differentiable_reduce_scatter", [&] {
    not_null(out, "out");
    *out = make_tensor_handle(differentiable::reduce_scatter(
        share_group(group), unwrap_list(tensors, tensor_count, "tensors"), to_reduce_op(op)));
  });
}

tdm_error* tdm_differentiable_all_to_all(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count,
                                         tdm_tensor** out, size_t out_count) {
  return guard("tdm_differentiable_all_to_all", [&] {
    check_out(out, out_count, unwrap_group(group));
    hand_over_tensors(differentiable::all_to_all(share_group(group), unwrap_list(tensors, tensor_count, "tensors")),
                      out);
  });
}

tdm_error* tdm_differentiable_all_to_all_single(tdm_process_group* group, const tdm_tensor* tensor,
                                                const int64_t* output_splits, size_t output_split_count,
                                                const int64_t* input_splits, size_t input_split_count,
                                                tdm_tensor** out) {
  return guard("tdm_differentiable_all_to_all_single", [&] {
    not_null(out, "out");
    *out = make_tensor_handle(differentiable::all_to_all_single(
        share_group(group), unwrap(tensor, "tensor"), to_splits(output_splits, output_split_count, "output_splits"),
        to_splits(input_splits, input_split_count, "input_splits")));
  });
}
