// Java: package org.tandem.internal, on which the hand-written classes of org.tandem stand.
%module(jniclassname = "TandemJNI", directors = "1") TandemNative

%define TANDEM_CLASS_NAME "Native%s" %enddef
%define TANDEM_FUNCTION_NAME "%(lowercamelcase)s" %enddef

// Java has no default arguments: the full form of each function alone.
%feature("compactdefaultargs");

%include "handles.i"
%include "typemaps_java.i"
%include "directors.i"
%include "api.i"
