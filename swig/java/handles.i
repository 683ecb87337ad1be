// Proxies extend NativeHandle (hand-written), which frees them: at close(), at the end of a scope, or when unreachable.
%typemap(javabase) SWIGTYPE "NativeHandle"
%typemap(javaclassmodifiers) SWIGTYPE "public final class"
%typemap(javabody) SWIGTYPE %{
  $javaclassname(long pointer, boolean owned) {
    super(pointer, NativeHandle.Kind.of("$javaclassname"), $imclassname::delete_$javaclassname);
  }
%}
%typemap(javafinalize) SWIGTYPE ""
%typemap(javadestruct, methodname = "close", methodmodifiers = "public synchronized") SWIGTYPE {
    super.close();
  }

// Results move into the object that Java owns.
%typemap(out) SWIGTYPE %{
  *($&1_ltype*)&$result = new $1_ltype(static_cast<$1_ltype&&>($1));
%}

// A closed proxy has the pointer 0.
%typemap(check) SWIGTYPE*, SWIGTYPE& {
  if (!$1) {
    tandem_throw(TANDEM_ENVIRONMENT_ARGUMENT, TDM_ERROR_CLOSED, "$symname", "the object was closed before this call");
    return $null;
  }
}
// The store of ProcessGroup's constructor may be absent.
%typemap(check) const tandem::abi::Store* store ""

%{
#define TANDEM_ENVIRONMENT JNIEnv* jenv
#define TANDEM_ENVIRONMENT_ARGUMENT jenv
%}
// $null is the failure value of each wrapper's type, and is known to %exception alone.
#define TANDEM_FAIL return $null
