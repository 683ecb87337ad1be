/* Compiled as strict C99: the header must need nothing more. The initialisers are used, for macros are only checked
 * where they are expanded. */
#include "tandem/tandem.h"

int main(void) {
  tdm_load_options load = TDM_LOAD_OPTIONS_INIT;
  tdm_tcp_store_options store = TDM_TCP_STORE_OPTIONS_INIT;
  tdm_process_group_options group = TDM_PROCESS_GROUP_OPTIONS_INIT;
  tdm_ddp_options ddp = TDM_DDP_OPTIONS_INIT;
  tdm_recordio_writer_options writer = TDM_RECORDIO_WRITER_OPTIONS_INIT;
  tdm_loader_options loader = TDM_LOADER_OPTIONS_INIT;
  tdm_modes modes = TDM_MODES_INIT;
  tdm_grad_scaler_options scaler = TDM_GRAD_SCALER_OPTIONS_INIT;
  tdm_grad_scaler_state scaler_state = TDM_GRAD_SCALER_STATE_INIT;
  tdm_pt_load_options pt = TDM_PT_LOAD_OPTIONS_INIT;
  tdm_function function = TDM_FUNCTION_INIT;
  tdm_device_memory memory = TDM_DEVICE_MEMORY_INIT;
  tdm_cuda_settings settings = TDM_CUDA_SETTINGS_INIT;
  tdm_index index = TDM_INDEX_INIT;
  const size_t sizes = load.struct_size + store.struct_size + group.struct_size + ddp.struct_size + writer.struct_size +
                       loader.struct_size + modes.struct_size + scaler.struct_size + scaler_state.struct_size +
                       pt.struct_size + function.struct_size + memory.struct_size + settings.struct_size;
  tdm_error_free(NULL);
  tdm_tensor_free(NULL);
  return sizes > 0 && index.stop == INT64_MAX && tdm_version()[0] != '\0' ? 0 : 1;
}
