#include "jni_upcall.h"

#include <pthread.h>

#include "call_gate.h"
#include "jni_convert.h"

namespace {

JavaVM* g_vm = nullptr;
jclass g_upcall_errors = nullptr;
jmethodID g_describe = nullptr;
jmethodID g_code_of = nullptr;

// Ends with a thread that was attached here.
struct Attached {
  ~Attached() { g_vm->DetachCurrentThread(); }
};

// nullptr where Java takes no more threads.
JNIEnv* environment() {
  JNIEnv* jenv = nullptr;
  if (g_vm->GetEnv(reinterpret_cast<void**>(&jenv), JNI_VERSION_10) == JNI_OK) return jenv;
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  JavaVMAttachArgs arguments{JNI_VERSION_10, name, nullptr};
  if (g_vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jenv), &arguments) != JNI_OK) return nullptr;
  thread_local Attached attached;
  return jenv;
}

void free_global(jobject global) {
  // Past the gate Java may be gone, and the reference with it.
  if (!global || tandem_swig::gate().closed.load()) return;
  if (JNIEnv* jenv = environment()) jenv->DeleteGlobalRef(global);
}

}  // namespace

namespace tandem_jni {

bool start_upcalls(JavaVM* vm, JNIEnv* jenv, jclass errors) {
  g_vm = vm;
  g_upcall_errors = errors;
  g_describe = jenv->GetStaticMethodID(errors, "describe", "(Ljava/lang/Throwable;)[B");
  if (!g_describe) return false;
  g_code_of = jenv->GetStaticMethodID(errors, "codeOf", "(Ljava/lang/Throwable;)I");
  return g_code_of;
}

Entry::Refusal Entry::enter() noexcept {
  JNIEnv* jenv = environment();
  if (!jenv) return Refusal::kNoThread;
  constexpr jint kReferences = 16;
  if (jenv->PushLocalFrame(kReferences) != 0) {
    jenv->ExceptionClear();
    return Refusal::kNoMemory;
  }
  jenv_ = jenv;
  return Refusal::kNone;
}

Entry::Entry() {
  switch (enter()) {
    case Refusal::kNone:
      return;
    case Refusal::kNoThread:
      throw tandem::abi::Error(TDM_ERROR_CLOSED, "callback",
                               "Java takes no more threads: it ends, or is out of memory");
    case Refusal::kNoMemory:
      throw tandem::abi::Error(TDM_ERROR_OUT_OF_MEMORY, "callback", "Java has no memory for references");
  }
}

Entry::Entry(std::nothrow_t) noexcept {
  enter();
}

Entry::~Entry() {
  if (!jenv_) return;
  if (jenv_->ExceptionCheck()) jenv_->ExceptionClear();  // what nobody asked about
  jenv_->PopLocalFrame(nullptr);
}

JavaException::JavaException(JNIEnv* jenv, jthrowable thrown, tdm_error_code code, const std::string& text)
    : tandem::abi::Error(code, "callback", text), thrown_(jenv->NewGlobalRef(thrown), free_global) {}

void pass_on(JNIEnv* jenv, jthrowable thrown) {
  jenv->ExceptionClear();
  std::string text = "a Java exception";
  const auto described = static_cast<jbyteArray>(jenv->CallStaticObjectMethod(g_upcall_errors, g_describe, thrown));
  if (jenv->ExceptionCheck()) {
    jenv->ExceptionClear();
  } else {
    get(jenv, described, text);
  }
  jint code = jenv->CallStaticIntMethod(g_upcall_errors, g_code_of, thrown);
  if (jenv->ExceptionCheck()) {
    jenv->ExceptionClear();
    code = TDM_ERROR_CALLBACK;
  }
  throw JavaException(jenv, thrown, static_cast<tdm_error_code>(code), text);
}

jthrowable java_cause(const std::exception_ptr& cause) {
  if (!cause) return nullptr;
  try {
    std::rethrow_exception(cause);
  } catch (const JavaException& error) {
    return error.thrown();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace tandem_jni
