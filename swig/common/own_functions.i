// A language's own functions of learning rates and closures: see own_functions.h. own_data.i comes before.
%{
#include "own_functions.h"
%}

DIRECTOR(RateSource)
DIRECTOR(LossSource)
DIRECTOR(TracedSource)
DIRECTOR(MicroBatchSource)
DIRECTOR(RpcSource)
DIRECTOR(CompletionSource)
%ignore tandem_swig::RpcCall;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::lr_scheduler_of_function;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::sequential_lr;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::step_with_closure;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::traced_module;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::rpc_call_arguments;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::rpc_call_return;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::rpc_call_fail;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::rpc_register_source;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::rpc_on_completion;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::report_metrics;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::pipeline_of_functions;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::split_pipeline_by_functions;
%ignore tandem_swig::functions_of;

%include "own_functions.h"
