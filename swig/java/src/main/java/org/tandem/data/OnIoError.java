package org.tandem.data;

import java.time.Duration;

/**
 * What a loader does where files, or the servers that they are on, cannot be read, though nothing is known to be wrong
 * with them. None of it counts against a sample.
 */
public enum OnIoError {
  /** Tries again, with growing pauses; then it is an error. */
  RETRY(0),
  /** Tries again, and then leaves the samples that still cannot be read out of their batch, this time. */
  SKIP(1),
  /** An error at once. */
  FAIL(2);

  private final int number;

  OnIoError(int number) {
    this.number = number;
  }

  /** In the C ABI. */
  int number() {
    return number;
  }

  /** In the C ABI, where 0 is the default and -1 none. */
  static long milliseconds(Duration value) {
    return value == null ? 0 : value.isZero() ? -1 : value.toMillis();
  }
}
