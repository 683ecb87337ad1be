// How native code calls Java: from threads that Java did not start, too.
#pragma once

#include <jni.h>

#include <memory>
#include <new>
#include <string>

#include "tandem/abi/error.hpp"

namespace tandem_jni {

// At load, on a thread that sees this library's classes. False with a Java exception pending.
bool start_upcalls(JavaVM* vm, JNIEnv* jenv, jclass errors);

// A thread in Java for as long as it lives: it becomes one of Java's daemon threads until it ends, and the references
// that it gets here go with this object.
class Entry {
 public:
  // Throws tandem::abi::Error where Java does not take the thread.
  Entry();
  // For destructors: false then.
  explicit Entry(std::nothrow_t) noexcept;
  ~Entry();
  explicit operator bool() const noexcept { return jenv_ != nullptr; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  enum class Refusal { kNone, kNoThread, kNoMemory };
  Refusal enter() noexcept;

  JNIEnv* jenv_ = nullptr;
};

// What Java code threw, on its way through C++. message() is its class and message, code() what Errors.codeOf() says.
class JavaException : public tandem::abi::Error {
 public:
  JavaException(JNIEnv* jenv, jthrowable thrown, tdm_error_code code, const std::string& text);
  jthrowable thrown() const { return static_cast<jthrowable>(thrown_.get()); }

 private:
  std::shared_ptr<_jobject> thrown_;  // a global reference
};

// Ends Java's `thrown`, which is pending, and throws it as a JavaException.
[[noreturn]] void pass_on(JNIEnv* jenv, jthrowable thrown);

// The Java exception that led to an error; nullptr for none. Lives as long as `cause`.
jthrowable java_cause(const std::exception_ptr& cause);

}  // namespace tandem_jni
