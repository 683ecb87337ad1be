// Tandem for C++ programs that link libtandem alone: a header-only facade over the C ABI (tandem/tandem.h), C++17,
// without LibTorch's headers. The front ends of SWIG's languages are made from it.
//
// Every function throws tandem::abi::Error. Objects own their handles. Programs that want LibTorch's own C++ API use
// the core's headers instead.
#pragma once

#include "tandem/abi/callback.hpp"
#include "tandem/abi/checkpoint.hpp"
#include "tandem/abi/checkpoint_folder.hpp"
#include "tandem/abi/data.hpp"
#include "tandem/abi/dataset.hpp"
#include "tandem/abi/dist.hpp"
#include "tandem/abi/dynamic_loader.hpp"
#include "tandem/abi/elastic.hpp"
#include "tandem/abi/error.hpp"
#include "tandem/abi/fields.hpp"
#include "tandem/abi/generator.hpp"
#include "tandem/abi/indexing.hpp"
#include "tandem/abi/exported.hpp"
#include "tandem/abi/jit.hpp"
#include "tandem/abi/leave_signal.hpp"
#include "tandem/abi/metrics.hpp"
#include "tandem/abi/nn.hpp"
#include "tandem/abi/operator.hpp"
#include "tandem/abi/optim.hpp"
#include "tandem/abi/own_dataset.hpp"
#include "tandem/abi/parameter_server.hpp"
#include "tandem/abi/pipeline.hpp"
#include "tandem/abi/rpc.hpp"
#include "tandem/abi/rref.hpp"
#include "tandem/abi/runtime.hpp"
#include "tandem/abi/scope.hpp"
#include "tandem/abi/tensor.hpp"
#include "tandem/abi/value.hpp"
