package org.tandem.data;

import java.time.Duration;

/**
 * What a loader does where files, or the servers that they are on, cannot be read, though nothing is known to be wrong
 * with them. None of it counts against a sample.
 */
public enum OnIoError {
  /** Tries again, with growing pauses; then it is an error. */
  RETRY,
  /** Tries again, and then leaves the samples that still cannot be read out of their batch, this time. */
  SKIP,
  /** An error at once. */
  FAIL;

  /** In the C ABI. */
  int number() {
    return ordinal();
  }

  /** In the C ABI, where 0 is the default and -1 none. */
  static long milliseconds(Duration value) {
    return value == null ? 0 : value.isZero() ? -1 : value.toMillis();
  }
}
