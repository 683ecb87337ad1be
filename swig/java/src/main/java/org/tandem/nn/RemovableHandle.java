package org.tandem.nn;

/** Takes a hook away again. Source: torch.utils.hooks.RemovableHandle. */
public final class RemovableHandle implements AutoCloseable {
  private Runnable removal;

  RemovableHandle(Runnable removal) {
    this.removal = removal;
  }

  /** The hook is not called any more. A second call does nothing. */
  public synchronized void remove() {
    if (removal != null) {
      removal.run();
      removal = null;
    }
  }

  @Override
  public void close() {
    remove();
  }
}
