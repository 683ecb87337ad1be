// Classes that Java derives from. The C++ object holds the Java object, by a global reference, until native code, whose
// it is, deletes it; so there is nothing to close.
%define JAVA_DIRECTOR(NAME)
SWIG_DIRECTOR_OWNED(tandem_swig::NAME)
%typemap(javabase) tandem_swig::NAME ""
%typemap(javaclassmodifiers) tandem_swig::NAME "class"
%typemap(javabody) tandem_swig::NAME %{
  private long swigCPtr;

  $javaclassname(long pointer, boolean owned) {
    swigCPtr = pointer;
  }

  static long getCPtr($javaclassname object) {
    return object == null ? 0 : object.swigCPtr;
  }

  final void pin() {}

  final void unpin() {}
%}
%typemap(javain) tandem_swig::NAME* "$javaclassname.getCPtr($javainput)"
%typemap(javadestruct, methodname = "delete", methodmodifiers = "synchronized") tandem_swig::NAME {
    if (swigCPtr != 0) {
      long deleted = swigCPtr;
      swigCPtr = 0;
      $imclassname.delete_$javaclassname(deleted);
    }
  }
%typemap(directordisconnect, methodname = "swigDirectorDisconnect") tandem_swig::NAME %{
  protected void $methodname() {
    swigCPtr = 0;
  }
%}
// C++ owns it from the start.
%typemap(directorowner_release, methodname = "none") tandem_swig::NAME " "
%typemap(directorowner_take, methodname = "none") tandem_swig::NAME " "
%enddef
JAVA_DIRECTOR(SampleSource)
JAVA_DIRECTOR(SampleMapper)
JAVA_DIRECTOR(OpenStream)
JAVA_DIRECTOR(StreamSource)
JAVA_DIRECTOR(RateSource)
JAVA_DIRECTOR(LossSource)
JAVA_DIRECTOR(TracedSource)
JAVA_DIRECTOR(MicroBatchSource)
JAVA_DIRECTOR(RpcSource)
JAVA_DIRECTOR(CompletionSource)
// A stream goes over to who asked for it; so SWIG's warning does not apply.
%typemap(directorout) tandem_swig::OpenStream* {
  $result = *($&1_ltype)&$input;
}

// What Java throws goes through C++ as an exception that holds it.
%feature("director:except") {
  if (const jthrowable $error = jenv->ExceptionOccurred()) tandem_jni::pass_on(jenv, $error);
}

// A sample: addresses of abi::Tensor objects, which are the receiver's, both ways.
%typemap(jni) tandem_swig::Sample "jlongArray"
%typemap(jtype) tandem_swig::Sample "long[]"
%typemap(jstype) tandem_swig::Sample "long[]"
%typemap(javain) tandem_swig::Sample "$javainput"
%typemap(javaout) tandem_swig::Sample "{ return $jnicall; }"
%typemap(javadirectorin) tandem_swig::Sample "$jniinput"
%typemap(javadirectorout) tandem_swig::Sample "$javacall"
%typemap(in) tandem_swig::Sample {
  tandem_jni::take(jenv, $input, $1.tensors);
}
%typemap(out) tandem_swig::Sample {
  $result = tandem_jni::make(jenv, std::move($1.tensors));
}
%typemap(directorin, descriptor = "[J") tandem_swig::Sample {
  $input = tandem_jni::make(jenv, std::move($1.tensors));
  if (!$input) tandem_jni::pass_on(jenv, jenv->ExceptionOccurred());
}
%typemap(directorout) tandem_swig::Sample {
  tandem_jni::take(jenv, $input, $result.tensors);
}

// What goes over while the program keeps its own handle.
%rename("share") tandem::abi::Tensor::share;
%extend tandem::abi::Tensor {
  tandem::abi::Tensor share() const { return *$self; }
}

%{
#include "jni_upcall.h"

namespace tandem_swig {
using Entry = tandem_jni::Entry;
}
%}
