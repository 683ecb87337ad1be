/* A break, made on purpose: this function takes structs for as large as it knows them, whatever their struct_size. Put
 * before libtandem's own by LD_PRELOAD. */
#include "tandem/tandem.h"

tdm_error* tdm_recordio_writer_create(const char* path, const tdm_recordio_writer_options* options,
                                      tdm_recordio_writer** out) {
  const volatile tdm_recordio_writer_options copy = *options;
  (void)path;
  (void)copy;
  (void)out;
  return tdm_error_create(TDM_ERROR_INVALID_ARGUMENT, "tdm_recordio_writer_create", "read it all", NULL, NULL);
}
