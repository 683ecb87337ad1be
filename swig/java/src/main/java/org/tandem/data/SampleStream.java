package org.tandem.data;

import org.tandem.Scope;
import org.tandem.Tensor;

/** The samples of an epoch, one after the other. One thread at a time uses it, not always the same. */
public interface SampleStream extends AutoCloseable {
  /** As {@link Samples#get}; null at the end. */
  Tensor[] next() throws Exception;

  /** Leaves {@code count} samples out, and says how many there were: less where the stream ended. */
  default long skip(long count) throws Exception {
    for (long skipped = 0; skipped < count; skipped++) {
      try (Scope scope = Scope.open()) {
        if (next() == null) {
          return skipped;
        }
      }
    }
    return count;
  }

  /** Nobody goes on with it. */
  @Override
  default void close() throws Exception {}
}
