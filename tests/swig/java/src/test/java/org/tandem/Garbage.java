package org.tandem;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Calls the collector until it has done what is waited for. */
final class Garbage {
  private static final long WAIT_SECONDS = 60;

  private Garbage() {}

  static void collectUntil(BooleanSupplier done, String otherwise) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
    while (!done.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, otherwise);
      System.gc();
      Thread.sleep(10);
    }
  }
}
