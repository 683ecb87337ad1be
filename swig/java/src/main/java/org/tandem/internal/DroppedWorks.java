package org.tandem.internal;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import org.tandem.TandemException;

/**
 * Frees works that the program dropped once their collectives are done. Freeing one before waits for the other ranks, as
 * long as the group's timeout, and the {@link Cleaner}'s thread, which frees all else, cannot wait.
 *
 * <p>One daemon thread, while there are such works, asks each from time to time; it waits for none of them.
 */
final class DroppedWorks implements Runnable {
  private static final long FIRST_PAUSE_MILLIS = 1;
  private static final long LONGEST_PAUSE_MILLIS = 100;

  private static final List<Long> ADDED = new ArrayList<>();
  private static boolean running;

  private DroppedWorks() {}

  /** Takes over the native work at {@code pointer}. */
  static void add(long pointer) {
    synchronized (ADDED) {
      ADDED.add(pointer);
      ADDED.notifyAll();
      if (!running) {
        Thread thread = new Thread(new DroppedWorks(), "tandem-dropped-works");
        thread.setDaemon(true);
        thread.start();
        running = true; // unless the system has no thread, which the next one asks for again
      }
    }
  }

  @Override
  public void run() {
    List<Long> works = new ArrayList<>();
    long pause = FIRST_PAUSE_MILLIS;
    while (true) {
      synchronized (ADDED) {
        if (!ADDED.isEmpty()) {
          works.addAll(ADDED);
          ADDED.clear();
          pause = FIRST_PAUSE_MILLIS;
        } else if (works.isEmpty()) {
          running = false;
          return;
        }
      }
      works.removeIf(DroppedWorks::free);
      pause = pause(pause);
    }
  }

  private static long pause(long millis) {
    synchronized (ADDED) {
      try {
        if (ADDED.isEmpty()) {
          ADDED.wait(millis);
        }
      } catch (InterruptedException nobodyShould) {
        // It goes on: what it has must be freed.
      }
    }
    return Math.min(2 * millis, LONGEST_PAUSE_MILLIS);
  }

  /** Whether the work is gone. */
  private static boolean free(long pointer) {
    try {
      if (!TandemJNI.NativeWork_isCompleted(pointer, null)) {
        return false;
      }
      TandemJNI.delete_NativeWork(pointer);
    } catch (TandemException atExit) {
      // After Tandem.shutdown() the process ends, and its memory with it.
    }
    return true;
  }
}
