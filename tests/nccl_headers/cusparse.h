/* Stand-in for cuSPARSE's header. For compile checks only. */
#pragma once
typedef struct cusparseContext* cusparseHandle_t;
typedef enum { CUSPARSE_STATUS_SUCCESS } cusparseStatus_t;
#ifdef __cplusplus
extern "C"
#endif
const char* cusparseGetErrorString(cusparseStatus_t status);
