/* Stand-in for cuBLASLt's header. For compile checks only. */
#pragma once
typedef struct cublasLtContext* cublasLtHandle_t;
