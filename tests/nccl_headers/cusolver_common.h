/* Stand-in for cuSOLVER's common header. For compile checks only. */
#pragma once
typedef enum { CUSOLVER_STATUS_SUCCESS, CUSOLVER_STATUS_INVALID_VALUE } cusolverStatus_t;
