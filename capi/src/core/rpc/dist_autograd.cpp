// Distributed autograd, and optimizers over its gradients.
#include "tandem/dist_autograd.h"

#include <map>
#include <memory>
#include <vector>

#include "core/call/named_options.h"
#include "core/call/options.h"
#include "core/handles/handles.h"
#include "core/rpc/rref_handle.h"
#include "tandem/dist_optimizer.h"

struct tdm_distributed_optimizer : tandem::capi::Handle<tandem::Kind::kDistributedOptimizer> {
  std::unique_ptr<tandem::rpc::DistributedOptimizer> optimizer;
};

using namespace tandem::capi;
namespace tr = tandem::rpc;

tdm_error* tdm_dist_autograd_new_context(int64_t* out) {
  return guard("tdm_dist_autograd_new_context", [&] {
    not_null(out, "out");
    *out = tr::new_context();
  });
}

tdm_error* tdm_dist_autograd_release_context(int64_t context) {
  return guard("tdm_dist_autograd_release_context", [&] {
    tr::self();  // kClosed outside of a session
    tr::release_context(context);
  });
}

int64_t tdm_dist_autograd_current_context(void) {
  return tr::current_context();
}

tdm_error* tdm_dist_autograd_backward(int64_t context, tdm_tensor* const* roots, std::size_t count,
                                      int32_t retain_graph) {
  return guard("tdm_dist_autograd_backward",
               [&] { tr::dist_backward(context, unwrap_list(roots, count, "roots"), retain_graph != 0); });
}

tdm_error* tdm_dist_autograd_gradients(int64_t context, tdm_tensor* const* tensors, std::size_t count,
                                       tdm_tensor** results) {
  return guard("tdm_dist_autograd_gradients", [&] {
    const std::vector<at::Tensor> wanted = unwrap_list(tensors, count, "tensors");
    if (count != 0) not_null(results, "results");
    std::map<const void*, at::Tensor> known;
    for (const auto& [tensor, gradient] : tr::dist_gradients(context)) known[tensor.unsafeGetTensorImpl()] = gradient;
    std::vector<at::Tensor> found;
    for (const at::Tensor& tensor : wanted) {
      const auto one = known.find(tensor.unsafeGetTensorImpl());
      found.push_back(one == known.end() ? at::Tensor() : one->second);
    }
    const auto handles = make_optional_handles(found);
    std::copy(handles.begin(), handles.end(), results);
  });
}

tdm_error* tdm_distributed_optimizer_create(const char* type, tdm_rref* const* parameters, std::size_t parameter_count,
                                            const tdm_option* options, std::size_t option_count,
                                            const tdm_distributed_optimizer_options* distributed,
                                            tdm_distributed_optimizer** out) {
  return guard("tdm_distributed_optimizer_create", [&] {
    not_null(type, "type");
    check_count(parameter_count, "parameters");
    if (parameter_count != 0) not_null(parameters, "parameters");
    std::vector<tr::RRef> given;
    for (std::size_t i = 0; i < parameter_count; ++i) {
      given.push_back(not_null(parameters[i], element_name("parameters", i).c_str())->rref);
    }
    const auto named = to_options(options, option_count);
    const auto how = read_options<tdm_distributed_optimizer_options>(
        distributed, TDM_DISTRIBUTED_OPTIMIZER_OPTIONS_INIT, "tdm_distributed_optimizer_options");
    tr::DistributedOptimizerOptions native;
    native.locked = how.locked != 0;
    if (how.before_step) native.before_step = how.before_step;
    if (how.after_step) native.after_step = how.after_step;
    not_null(out, "out");
    auto made = std::make_unique<tdm_distributed_optimizer>();
    made->optimizer = std::make_unique<tr::DistributedOptimizer>(type, std::move(given), named, native);
    *out = made.release();
  });
}

tdm_error* tdm_distributed_optimizer_step(tdm_distributed_optimizer* optimizer, int64_t context) {
  return guard("tdm_distributed_optimizer_step", [&] { not_null(optimizer, "optimizer")->optimizer->step(context); });
}

tdm_error* tdm_distributed_optimizer_set_option(tdm_distributed_optimizer* optimizer, const tdm_option* option) {
  return guard("tdm_distributed_optimizer_set_option", [&] {
    not_null(optimizer, "optimizer");
    optimizer->optimizer->set_option(to_option(*not_null(option, "option"), "option->name"));
  });
}

void tdm_distributed_optimizer_free(tdm_distributed_optimizer* optimizer) {
  free_handle(optimizer);
}
