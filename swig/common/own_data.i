// A language's own samples: see own_data.h. The language's file gives these classes' typemaps first.
%{
#include "own_data.h"
%}

%define DIRECTOR(NAME)
%rename(TANDEM_CLASS_NAME) tandem_swig::NAME;
%feature("director") tandem_swig::NAME;
%enddef
%ignore tandem_swig::Sample;
DIRECTOR(SampleSource)
DIRECTOR(SampleMapper)
DIRECTOR(OpenStream)
DIRECTOR(StreamSource)
%rename(TANDEM_FUNCTION_NAME) tandem_swig::dataset_of_samples;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::dataset_of_streams;
%rename(TANDEM_FUNCTION_NAME) tandem_swig::mapped_dataset;

%include "own_data.h"
