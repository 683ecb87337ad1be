// How values pass between Java and C++. Text goes as UTF-8 bytes, since JNI's own strings are "modified UTF-8".
%{
#include "jni_convert.h"
%}

%define JAVA_TYPE(CPP, JNI, JAVA_RAW, JAVA, ENCODE, DECODE)
%typemap(jni) CPP, const CPP& "JNI"
%typemap(jtype) CPP, const CPP& "JAVA_RAW"
%typemap(jstype) CPP, const CPP& "JAVA"
%typemap(javain) CPP, const CPP& ENCODE
%typemap(javaout) CPP, const CPP& PINNED(return DECODE;)
%typemap(in) CPP {
  if (!tandem_jni::get(jenv, $input, $1)) return $null;
}
%typemap(in) const CPP& (CPP copy) {
  if (!tandem_jni::get(jenv, $input, copy)) return $null;
  $1 = &copy;
}
%typemap(check) const CPP& ""
%typemap(out) CPP {
  $result = tandem_jni::make(jenv, $1);
}
%typemap(out) const CPP& {
  $result = tandem_jni::make(jenv, *$1);
}
%enddef

JAVA_TYPE(std::string, jbyteArray, byte[], String, "Utf8.encode($javainput)", Utf8.decode($jnicall))
JAVA_TYPE(std::vector<std::string>, jobjectArray, byte[][], String[], "Utf8.encode($javainput)",
          Utf8.decode($jnicall))
JAVA_TYPE(std::vector<int64_t>, jlongArray, long[], long[], "$javainput", $jnicall)
JAVA_TYPE(std::vector<double>, jdoubleArray, double[], double[], "$javainput", $jnicall)
JAVA_TYPE(std::vector<uint8_t>, jbooleanArray, boolean[], boolean[], "$javainput", $jnicall)

// A std::string member is set by pointer.
%typemap(jni) std::string* "jbyteArray"
%typemap(jtype) std::string* "byte[]"
%typemap(jstype) std::string* "String"
%typemap(javain) std::string* "Utf8.encode($javainput)"
%typemap(in) std::string* (std::string copy) {
  if (!tandem_jni::get(jenv, $input, copy)) return $null;
  $1 = &copy;
}

// Bytes that are no text.
%define JAVA_BYTES(FUNCTION)
%typemap(jstype) std::string FUNCTION "byte[]"
%typemap(javaout) std::string FUNCTION PINNED(return $jnicall;)
%enddef
JAVA_BYTES(tandem::abi::Store::get)
JAVA_BYTES(tandem::abi::RecordIOReader::get)
JAVA_BYTES(tandem::abi::jit_save_bytes)
JAVA_BYTES(tandem::abi::Results::bytes)
JAVA_BYTES(tandem::abi::Loader::state)
JAVA_BYTES(tandem::abi::DynamicLoader::state)
%typemap(jstype) const std::string& state, const std::string& bytes "byte[]"
%typemap(javain) const std::string& state, const std::string& bytes "$javainput"
%typemap(jni) (const void* data, size_t size) "jbyteArray"
%typemap(jtype) (const void* data, size_t size) "byte[]"
%typemap(jstype) (const void* data, size_t size) "byte[]"
%typemap(javain) (const void* data, size_t size) "$javainput"
%typemap(in) (const void* data, size_t size) (std::string copy) {
  if (!tandem_jni::get(jenv, $input, copy)) return $null;
  $1 = copy.data();
  $2 = copy.size();
}

// Elements of a tensor: a direct buffer and its number of bytes, from the buffer's first element.
%typemap(jni) const void*, void* "jobject"
%typemap(jtype) const void*, void* "java.nio.Buffer"
%typemap(jstype) const void*, void* "java.nio.Buffer"
%typemap(javain) const void*, void* "$javainput"
%typemap(in) const void*, void* {
  if (!tandem_jni::get_buffer(jenv, $input, $1)) return $null;
}
%typemap(check) const void*, void* ""
// A tensor's own memory.
%typemap(jtype) void* tandem::abi::Tensor::data "java.nio.ByteBuffer"
%typemap(jstype) void* tandem::abi::Tensor::data "java.nio.ByteBuffer"
%typemap(javaout) void* tandem::abi::Tensor::data PINNED(return $jnicall;)
%typemap(out) void* tandem::abi::Tensor::data {
  $result = jenv->NewDirectByteBuffer($1, static_cast<jlong>(arg1->nbytes()));
}

// Tensors leave the scopes of native code: Java has its own.
%typemap(out) tandem::abi::Tensor %{
  *(tandem::abi::Tensor**)&$result = new tandem::abi::Tensor(tandem_jni::outside_scopes(static_cast<tandem::abi::Tensor&&>($1)));
%}

// Lists of objects: their addresses.
%define JAVA_LIST_IN(CPP, PROXY, LIST)
%typemap(jni) CPP "jlongArray"
%typemap(jtype) CPP "long[]"
%typemap(jstype) CPP "PROXY[]"
%typemap(javain, pre = "    NativeHandle.pin($javainput);", post = "      NativeHandle.unpin($javainput);") CPP
  "NativeHandle.pointers($javainput)"
%typemap(in) CPP (LIST list) {
  if (!tandem_jni::get(jenv, $input, list)) return $null;
  $1 = &list;
}
%typemap(check) CPP ""
%enddef
%define JAVA_LIST_OUT(CPP, PROXY)
%typemap(jni) CPP "jlongArray"
%typemap(jtype) CPP "long[]"
%typemap(jstype) CPP "PROXY[]"
%typemap(out) CPP {
  $result = tandem_jni::make(jenv, static_cast<CPP&&>($1));
}
%typemap(javaout) CPP PINNED(
    long[] pointers = $jnicall;
    PROXY[] objects = new PROXY[pointers.length];
    for (int i = 0; i < objects.length; i++) {
      objects[i] = new PROXY(pointers[i], true);
    }
    return objects;)
%enddef
JAVA_LIST_IN(const tandem::abi::TensorList&, NativeTensor, tandem::abi::TensorList)
%typemap(javain) const tandem::abi::TensorList& value "NativeHandle.pointers($javainput)"
JAVA_LIST_OUT(std::vector<tandem::abi::Tensor>, NativeTensor)
JAVA_LIST_IN(const std::vector<const tandem::abi::Dataset*>&, NativeDataset, std::vector<const tandem::abi::Dataset*>)
JAVA_LIST_OUT(std::vector<tandem::abi::Dataset>, NativeDataset)
JAVA_LIST_OUT(std::vector<tandem::abi::Module>, NativeModule)
JAVA_LIST_IN(const std::vector<const tandem::abi::Rref*>&, NativeRref, std::vector<const tandem::abi::Rref*>)
JAVA_LIST_IN(const std::vector<const tandem::abi::LrScheduler*>&, NativeLrScheduler,
             std::vector<const tandem::abi::LrScheduler*>)
