/* Stand-in for NCCL's header: names and opaque types that LibTorch's headers mention. For compile checks only. */
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_SUFFIX ""
#define NCCL_VERSION(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))
#define NCCL_VERSION_CODE NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)
#define NCCL_UNIQUE_ID_BYTES 128
#define NCCL_SPLIT_NOCOLOR (-1)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm* ncclComm_t;
typedef struct ncclWindow* ncclWindow_t;
typedef struct { char internal[NCCL_UNIQUE_ID_BYTES]; } ncclUniqueId;

typedef enum { ncclSuccess, ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclInvalidArgument,
               ncclInvalidUsage, ncclRemoteError, ncclInProgress } ncclResult_t;
typedef enum { ncclInt8, ncclChar = ncclInt8, ncclUint8, ncclInt32, ncclInt = ncclInt32, ncclUint32, ncclInt64,
               ncclUint64, ncclFloat16, ncclHalf = ncclFloat16, ncclFloat32, ncclFloat = ncclFloat32, ncclFloat64,
               ncclDouble = ncclFloat64, ncclBfloat16, ncclFloat8e4m3, ncclFloat8e5m2 } ncclDataType_t;
typedef enum { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg } ncclRedOp_t;

/* Of another size than the real one: hence no library that is built against this is ever loaded. */
typedef struct { size_t size; const char* netName; } ncclConfig_t;
#define NCCL_CONFIG_INITIALIZER {sizeof(ncclConfig_t), 0}
typedef struct { size_t size; } ncclSimInfo_t;
#define NCCL_SIM_INFO_INITIALIZER {sizeof(ncclSimInfo_t)}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);
const char* ncclGetErrorString(ncclResult_t result);

#ifdef __cplusplus
}
#endif
