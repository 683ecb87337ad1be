/* Stand-in for cuSOLVER's dense header. For compile checks only. */
#pragma once
#include "cusolver_common.h"
typedef struct cusolverDnContext* cusolverDnHandle_t;
