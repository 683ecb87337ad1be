// DistributedDataParallel.
#include <string>
#include <vector>

#include "core/groups.h"
#include "core/options.h"
#include "core/strings.h"

using namespace tandem::capi;

tdm_error* tdm_ddp_create(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names,
                          size_t parameter_count, tdm_tensor* const* buffers, size_t buffer_count,
                          const tdm_ddp_options* options, tdm_ddp** out) {
  return guard("tdm_ddp_create", [&] {
    not_null(group, "group");
    not_null(out, "out");
    const auto given = read_options<tdm_ddp_options>(options, TDM_DDP_OPTIONS_INIT, "tdm_ddp_options");
    tandem::DataParallelOptions native;
    native.bucket_cap_mb = given.bucket_cap_mb;
    native.broadcast_buffers = given.broadcast_buffers != 0;
    native.find_unused_parameters = given.find_unused_parameters != 0;
    native.gradient_as_bucket_view = given.gradient_as_bucket_view != 0;
    native.static_graph = given.static_graph != 0;
    native.init_sync = given.init_sync != 0;
    auto reducer = std::make_unique<tandem::DataParallelReducer>(
        group->group, unwrap_list(parameters, parameter_count, "parameters"),
        to_strings(names, names ? parameter_count : 0, "names"), unwrap_list(buffers, buffer_count, "buffers"), native);
    auto* handle = new tdm_ddp;
    handle->reducer = std::move(reducer);
    *out = handle;
  });
}

void tdm_ddp_free(tdm_ddp* ddp) {
  delete if_live(ddp);
}

tdm_error* tdm_ddp_prepare_forward(tdm_ddp* ddp, int32_t training) {
  return guard("tdm_ddp_prepare_forward", [&] { not_null(ddp, "ddp")->reducer->prepare_forward(training != 0); });
}

tdm_error* tdm_ddp_prepare_backward(tdm_ddp* ddp, tdm_tensor* const* outputs, size_t output_count) {
  return guard("tdm_ddp_prepare_backward", [&] {
    auto& reducer = *not_null(ddp, "ddp")->reducer;
    std::vector<at::Tensor> tensors = unwrap_list(outputs, output_count, "outputs");
    reducer.prepare_backward(tensors);
    for (std::size_t i = 0; i < output_count; ++i) {
      if (!tensors[i].is_same(outputs[i]->tensor)) outputs[i]->tensor = tensors[i];
    }
  });
}

tdm_error* tdm_ddp_set_require_backward_grad_sync(tdm_ddp* ddp, int32_t on) {
  return guard("tdm_ddp_set_require_backward_grad_sync",
               [&] { not_null(ddp, "ddp")->reducer->set_require_backward_grad_sync(on != 0); });
}
