package org.tandem.dist;

import java.time.Duration;
import org.tandem.TandemClosedException;
import org.tandem.internal.NativeWork;

/** A collective in progress; it holds the tensors. Closing it waits for its end. */
public final class Work implements AutoCloseable {
  private final NativeWork handle;

  Work(NativeWork handle) {
    this.handle = handle;
  }

  private NativeWork open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Work", "the work was closed before this call");
    }
    return handle;
  }

  /** Blocks until it is done, at most as long as the group's timeout, and throws what went wrong. */
  public void await() {
    open().await(-1);
  }

  public void await(Duration timeout) {
    open().await(timeout.toMillis());
  }

  public boolean isCompleted() {
    return open().isCompleted();
  }

  @Override
  public void close() {
    handle.close();
  }
}
