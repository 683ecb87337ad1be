// Proxies extend NativeHandle (hand-written), which frees them: at close(), at the end of a scope, or when unreachable.
%typemap(javabase) SWIGTYPE "NativeHandle"
%typemap(javaclassmodifiers) SWIGTYPE "public final class"
%typemap(javabody) SWIGTYPE %{
  $javaclassname(long pointer, boolean owned) {
    super(pointer, NativeHandle.Kind.of("$javaclassname"), $imclassname::delete_$javaclassname);
  }
%}
%typemap(javafinalize) SWIGTYPE ""
%typemap(javadestruct, methodname = "close", methodmodifiers = "public") SWIGTYPE {
    super.close();
  }

// Results move into the object that Java owns.
%typemap(out) SWIGTYPE %{
  *($&1_ltype*)&$result = new $1_ltype(static_cast<$1_ltype&&>($1));
%}

// What a call uses, its object and its arguments, is pinned: another thread that closes it leaves the native object to
// this call. PINNED is the body of a method of an object, CALL what it calls and returns. Functions without an object have
// the same typemaps: module and directors have a pin() that does nothing, static members of classes are listed below.
%define PINNED(CALL) "{ pin(); try { CALL } finally { unpin(); } }" %enddef
%typemap(javaout) void PINNED($jnicall;)
%typemap(javaout) bool, signed char, unsigned char, short, unsigned short, int, unsigned int, long, unsigned long,
    long long, unsigned long long, float, double PINNED(return $jnicall;)
%typemap(javaout) SWIGTYPE PINNED(return new $&javaclassname($jnicall, true);)
%typemap(javain, pre = "    NativeHandle.pin($javainput);", post = "      NativeHandle.unpin($javainput);")
    SWIGTYPE*, SWIGTYPE&, const SWIGTYPE& "$javaclassname.getCPtr($javainput)"
// An operator's tensors are pinned from here until its call ends, by the class that adds them.
%typemap(javain) const tandem::abi::Tensor& value "$javaclassname.getCPtr($javainput)"

%pragma(java) modulecode = %{
  private static void pin() {}

  private static void unpin() {}
%}
%define STATIC(RESULT, FUNCTION)
%typemap(javaout) RESULT tandem::abi::FUNCTION "{ return new $&javaclassname($jnicall, true); }"
%enddef
STATIC(tandem::abi::Operator, Operator::find)
STATIC(tandem::abi::Store, Store::tcp)
STATIC(tandem::abi::Store, Store::file)
STATIC(tandem::abi::Store, Store::hash)
STATIC(tandem::abi::Dataset, Dataset::from_records)
STATIC(tandem::abi::Dataset, Dataset::from_schema)
STATIC(tandem::abi::Dataset, Dataset::from_tensors)
STATIC(tandem::abi::Dataset, Dataset::concat)
STATIC(tandem::abi::DynamicLoader, DynamicLoader::replay)
STATIC(tandem::abi::LrScheduler, LrScheduler::chained)

// What ends the calls that others are in when it is closed.
%define WAKE(NAME)
%typemap(javacode) tandem::abi::NAME %{
  @Override
  void wake(long pointer) {
    $imclassname.$javaclassname_abort(pointer, this);
  }
%}
%enddef
WAKE(ProcessGroup)
WAKE(Loader)
WAKE(DynamicLoader)
WAKE(Elastic)

// A closed proxy has the pointer 0.
%typemap(check) SWIGTYPE*, SWIGTYPE& {
  if (!$1) {
    tandem_throw(TANDEM_ENVIRONMENT_ARGUMENT, TDM_ERROR_CLOSED, "$symname", "the object was closed before this call");
    return $null;
  }
}
// The store of ProcessGroup's constructor may be absent.
%typemap(check) const tandem::abi::Store* store ""
// So may the group of CheckpointFolder's, and those of a pipeline's replicas.
%typemap(check) const tandem::abi::ProcessGroup* group, const tandem::abi::ProcessGroup* replicas,
    const tandem::abi::ProcessGroup* everyone ""
// And what a save has besides, and a table's first rows.
%typemap(check) const tandem::abi::OwnTensors* more, const tandem::abi::Tensor* initial ""

%{
#define TANDEM_ENVIRONMENT JNIEnv* jenv
#define TANDEM_ENVIRONMENT_ARGUMENT jenv
%}
// $null is the failure value of each wrapper's type, and is known to %exception alone.
#define TANDEM_FAIL return $null
