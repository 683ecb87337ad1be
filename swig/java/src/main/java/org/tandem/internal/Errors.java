package org.tandem.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.util.concurrent.TimeoutException;
import org.tandem.ErrorCode;
import org.tandem.TandemException;
import org.tandem.TandemIOException;
import org.tandem.TandemOutOfMemoryException;
import org.tandem.TandemTimeoutException;

/** Called from JNI: exceptions for errors of the C ABI, and what is said there of the program's own. */
final class Errors {
  private Errors() {}

  /** {@code cause}: what a callback threw that led to the error, or null. */
  static Throwable create(int code, byte[] operation, byte[] message, Throwable cause) {
    // What a callback threw is the program's own text.
    String text = Utf8.decode(message);
    String method = JavaNames.operation(Utf8.decode(operation));
    TandemException error =
        TandemException.of(ErrorCode.of(code), method, cause == null ? JavaNames.message(text, method) : text);
    return cause == null ? error : error.initCause(cause);
  }

  /**
   * What the C ABI is told that was thrown: IO and TIMEOUT for what cannot be read now, which loaders try again or
   * skip, OUT_OF_MEMORY, which is no sample's fault, and CALLBACK for all else. A plain IOException may as well be
   * about a file's content.
   */
  static int codeOf(Throwable thrown) {
    if (thrown instanceof UncheckedIOException error) {
      return codeOf(error.getCause());
    }
    ErrorCode code = ErrorCode.CALLBACK;
    if (thrown instanceof TandemIOException || thrown.getClass() == FileSystemException.class || isOfNetwork(thrown)) {
      code = ErrorCode.IO;
    } else if (thrown instanceof TandemTimeoutException || thrown instanceof TimeoutException) {
      code = ErrorCode.TIMEOUT;
    } else if (thrown instanceof TandemOutOfMemoryException || thrown instanceof OutOfMemoryError) {
      code = ErrorCode.OUT_OF_MEMORY;
    }
    return code.number();
  }

  /** HttpTimeoutException, for one, is of a module that may not be there. */
  private static boolean isOfNetwork(Throwable thrown) {
    if (!(thrown instanceof IOException) || thrown instanceof MalformedURLException) {
      return false;
    }
    for (Class<?> type = thrown.getClass(); type != IOException.class; type = type.getSuperclass()) {
      if (type.getName().startsWith("java.net.")) {
        return true;
      }
    }
    return false;
  }

  /** Class and message. */
  static byte[] describe(Throwable thrown) {
    return thrown.toString().getBytes(StandardCharsets.UTF_8);
  }
}
