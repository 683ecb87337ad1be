// What all languages share: types, errors, the list of what is wrapped, and the facade's headers. A language's own file
// defines its typemaps and names first, then includes this.
%{
#include "tandem/abi.hpp"
%}

%include "types.i"
%include "exception.i"
%include "allow.i"

%include "tandem/abi/error.hpp"
%include "tandem/abi/handle.hpp"
%include "tandem/abi/runtime.hpp"
%include "tandem/abi/tensor.hpp"
%include "tandem/abi/rref.hpp"
%include "tandem/abi/value.hpp"
%include "tandem/abi/operator.hpp"
%include "tandem/abi/nn.hpp"
%include "tandem/abi/optim.hpp"
%include "tandem/abi/exported.hpp"
%include "tandem/abi/jit.hpp"
%include "tandem/abi/checkpoint.hpp"
%include "tandem/abi/dist.hpp"
%include "tandem/abi/pipeline.hpp"
%include "tandem/abi/rpc.hpp"
%include "tandem/abi/checkpoint_folder.hpp"
%include "tandem/abi/fields.hpp"
%include "tandem/abi/dataset.hpp"
%include "tandem/abi/data.hpp"
%include "tandem/abi/dynamic_loader.hpp"
%include "tandem/abi/generator.hpp"
%include "tandem/abi/elastic.hpp"
%include "own_data.i"
%include "own_functions.i"
