// How values pass between Java and C++. Text goes as UTF-8 bytes, since JNI's own strings are "modified UTF-8".
%{
#include "jni_convert.h"
%}

%define JAVA_TYPE(CPP, JNI, JAVA_RAW, JAVA, ENCODE, DECODE)
%typemap(jni) CPP, const CPP& "JNI"
%typemap(jtype) CPP, const CPP& "JAVA_RAW"
%typemap(jstype) CPP, const CPP& "JAVA"
%typemap(javain) CPP, const CPP& ENCODE
%typemap(javaout) CPP, const CPP& DECODE
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

JAVA_TYPE(std::string, jbyteArray, byte[], String, "Utf8.encode($javainput)", "{ return Utf8.decode($jnicall); }")
JAVA_TYPE(std::vector<std::string>, jobjectArray, byte[][], String[], "Utf8.encode($javainput)",
          "{ return Utf8.decode($jnicall); }")
JAVA_TYPE(std::vector<int64_t>, jlongArray, long[], long[], "$javainput", "{ return $jnicall; }")
JAVA_TYPE(std::vector<double>, jdoubleArray, double[], double[], "$javainput", "{ return $jnicall; }")
JAVA_TYPE(std::vector<uint8_t>, jbooleanArray, boolean[], boolean[], "$javainput", "{ return $jnicall; }")

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
%typemap(jstype) std::string tandem::abi::Store::get, std::string tandem::abi::RecordIOReader::get "byte[]"
%typemap(javaout) std::string tandem::abi::Store::get, std::string tandem::abi::RecordIOReader::get
  "{ return $jnicall; }"
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
%typemap(javaout) void* tandem::abi::Tensor::data "{ return $jnicall; }"
%typemap(out) void* tandem::abi::Tensor::data {
  $result = jenv->NewDirectByteBuffer($1, static_cast<jlong>(arg1->nbytes()));
}

// Lists of tensors.
%typemap(jni) const tandem::abi::TensorList&, std::vector<tandem::abi::Tensor> "jlongArray"
%typemap(jtype) const tandem::abi::TensorList&, std::vector<tandem::abi::Tensor> "long[]"
%typemap(jstype) const tandem::abi::TensorList&, std::vector<tandem::abi::Tensor> "NativeTensor[]"
%typemap(javain, post = "      java.lang.ref.Reference.reachabilityFence($javainput);") const tandem::abi::TensorList&
  "NativeHandle.pointers($javainput)"
%typemap(in) const tandem::abi::TensorList& (tandem::abi::TensorList list) {
  if (!tandem_jni::get(jenv, $input, list)) return $null;
  $1 = &list;
}
%typemap(check) const tandem::abi::TensorList& ""
%typemap(out) std::vector<tandem::abi::Tensor> {
  $result = tandem_jni::make(jenv, static_cast<std::vector<tandem::abi::Tensor>&&>($1));
}
%typemap(javaout) std::vector<tandem::abi::Tensor> {
    long[] pointers = $jnicall;
    NativeTensor[] tensors = new NativeTensor[pointers.length];
    for (int i = 0; i < tensors.length; i++) {
      tensors[i] = new NativeTensor(pointers[i], true);
    }
    return tensors;
  }
