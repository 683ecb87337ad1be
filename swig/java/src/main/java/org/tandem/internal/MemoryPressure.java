package org.tandem.internal;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Calls the collector when tensors that nobody closes hold much native memory, of which the collector knows nothing.
 *
 * <p>The limit is 256 MiB (system property {@code org.tandem.gcBytes}), or twice what was still alive after the last
 * collection, whichever is more.
 */
final class MemoryPressure {
  private static final long BASE = Long.getLong("org.tandem.gcBytes", 256L << 20);
  private static final int IDLE_MILLIS = 50;
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static volatile long limit = BASE;

  private MemoryPressure() {}

  static void relieve() {
    if (TandemNative.tensorLiveBytes() < limit || !LOCK.tryLock()) {
      return;
    }
    try {
      System.gc();
      // The cleaner works on a thread of its own: wait as long as it makes progress.
      long last = TandemNative.tensorLiveBytes();
      for (int idle = 0; idle < IDLE_MILLIS && last > BASE / 2; idle++) {
        Thread.sleep(1);
        long now = TandemNative.tensorLiveBytes();
        if (now < last) {
          idle = 0;
        }
        last = now;
      }
      limit = Math.max(BASE, 2 * TandemNative.tensorLiveBytes());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      LOCK.unlock();
    }
  }
}
