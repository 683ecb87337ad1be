package org.tandem.rpc;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.tandem.TandemClosedException;
import org.tandem.internal.TandemNative;

/**
 * The result of a call, or what follows from it. A registered function that waits for it makes room for another one, as {@link
 * Rpc#call} does: else as many as may run at a time would wait for ever for calls that come back to their worker.
 */
final class CallFuture<T> extends CompletableFuture<T> {
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() { return new CallFuture<>(); }

  @Override
  public T get() throws InterruptedException, ExecutionException {
    boolean begun = beginWait();
    try {
      return super.get();
    } finally {
      endWait(begun);
    }
  }

  @Override
  public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
    boolean begun = beginWait();
    try {
      return super.get(timeout, unit);
    } finally {
      endWait(begun);
    }
  }

  @Override
  public T join() {
    boolean begun = beginWait();
    try {
      return super.join();
    } finally {
      endWait(begun);
    }
  }

  private boolean beginWait() {
    try {
      return !isDone() && TandemNative.rpcWaitBegin();
    } catch (TandemClosedException atExit) {
      return false; // no function runs any more
    }
  }

  private static void endWait(boolean begun) {
    try {
      if (begun) {
        TandemNative.rpcWaitEnd();
      }
    } catch (TandemClosedException atExit) {
      // Likewise.
    }
  }
}
