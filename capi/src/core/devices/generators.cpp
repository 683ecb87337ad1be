// Generators of random numbers.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

#include "core/devices/generator.h"
#include "core/handles/handles.h"

using namespace tandem::capi;

namespace {

at::Device generator_device(tdm_device device) {
  if (device.type != TDM_DEVICE_CPU && device.type != TDM_DEVICE_CUDA) {
    invalid("argument 'device' has type " + std::to_string(device.type) +
            "; TDM_DEVICE_CPU and TDM_DEVICE_CUDA have generators");
  }
  return to_device(device, "device");
}

// Operators draw under the same lock.
template <typename Body>
auto locked(const tdm_generator* generator, Body&& body) {
  at::Generator found = not_null(generator, "generator")->generator;
  const std::lock_guard<std::mutex> lock(found.mutex());
  return body(found);
}

}  // namespace

tdm_error* tdm_generator_create(tdm_device device, tdm_generator** out) {
  return guard("tdm_generator_create", [&] {
    not_null(out, "out");
    const at::Device on = generator_device(device);
    *out = new tdm_generator(
        on.is_cpu() ? at::detail::createCPUGenerator()
                    : at::globalContext().getAcceleratorHooksInterface(on.type()).getNewGenerator(on.index()));
  });
}

tdm_error* tdm_generator_default(tdm_device device, tdm_generator** out) {
  return guard("tdm_generator_default", [&] {
    not_null(out, "out");
    *out = new tdm_generator(at::globalContext().defaultGenerator(generator_device(device)));
  });
}

void tdm_generator_free(tdm_generator* generator) {
  tandem::capi::free_handle("tdm_generator_free", generator);
}

tdm_device tdm_generator_get_device(const tdm_generator* generator) {
  return if_live(generator) ? from_device(generator->generator.device()) : tdm_device{TDM_DEVICE_CPU, -1};
}

tdm_error* tdm_generator_manual_seed(tdm_generator* generator, std::uint64_t seed) {
  return guard("tdm_generator_manual_seed",
               [&] { locked(generator, [&](at::Generator& g) { g.set_current_seed(seed); }); });
}

tdm_error* tdm_generator_seed(tdm_generator* generator, std::uint64_t* out) {
  return guard("tdm_generator_seed", [&] {
    const std::uint64_t seed = locked(generator, [](at::Generator& g) { return g.seed(); });
    if (out) *out = seed;
  });
}

tdm_error* tdm_generator_initial_seed(const tdm_generator* generator, std::uint64_t* out) {
  return guard("tdm_generator_initial_seed", [&] {
    not_null(generator, "generator");
    not_null(out, "out");
    *out = locked(generator, [](at::Generator& g) { return g.current_seed(); });
  });
}

tdm_error* tdm_generator_get_state(const tdm_generator* generator, tdm_tensor** out) {
  return guard("tdm_generator_get_state", [&] {
    not_null(generator, "generator");
    not_null(out, "out");
    *out = make_tensor_handle(locked(generator, [](at::Generator& g) { return g.get_state(); }));
  });
}

tdm_error* tdm_generator_set_state(tdm_generator* generator, const tdm_tensor* state) {
  return guard("tdm_generator_set_state", [&] {
    not_null(generator, "generator");
    const at::Tensor& tensor = unwrap(state, "state");
    if (!tensor.is_cpu() || tensor.scalar_type() != at::kByte || tensor.dim() != 1) {
      invalid(
          "argument 'state' is no state of a generator: that is a CPU tensor of bytes with one dimension, as "
          "tdm_generator_get_state() gives");
    }
    locked(generator, [plain = tensor.contiguous()](at::Generator& g) { g.set_state(plain); });
  });
}
