package org.tandem.elastic;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.tandem.internal.NativeLibrary;

/**
 * Java answers SIGTERM, SIGINT and SIGHUP by ending the program, whose threads go on until the last shutdown hook has returned.
 * So a hook is where a training that is told to end finishes its step, commits and leaves; native calls are ended after it.
 */
final class LeaveAtExit implements Runnable, AutoCloseable {
  // Less than the launcher's grace, 5 s: where training runs on a thread of a pool, all of it passes.
  private static final Duration LAST_WORDS = Duration.ofSeconds(2);
  private static final Duration LONGEST = Duration.ofDays(365); // which nanoseconds can count
  private static final long LOOK_MILLIS = 10;

  private final Runnable leave;
  private final Duration patience;
  private final Thread trainer = Thread.currentThread();
  private volatile boolean returned;

  /** For the thread that makes it, until it is closed; {@code patience}: for steps to complete. */
  LeaveAtExit(Runnable leave, Duration patience) {
    this.leave = leave;
    this.patience = patience.compareTo(LONGEST) < 0 ? patience : LONGEST;
    NativeLibrary.beforeShutdown(this);
  }

  @Override
  public void run() {
    if (endsTheProgram()) {
      return;
    }
    leave.run();
    if (await(patience, () -> returned)) {
      await(LAST_WORDS, () -> false); // what the program does after it has left
    }
  }

  /** False when the time is over. */
  private boolean await(Duration limit, BooleanSupplier isDone) {
    long end = System.nanoTime() + limit.toNanos();
    while (!isDone.getAsBoolean() && trainer.isAlive() && !endsTheProgram()) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      try {
        Thread.sleep(LOOK_MILLIS);
      } catch (InterruptedException early) {
        return false;
      }
    }
    return true;
  }

  /** Whether the thread that trains waits for the hooks itself, in System.exit(). */
  private boolean endsTheProgram() {
    for (StackTraceElement frame : trainer.getStackTrace()) {
      if (frame.getClassName().equals("java.lang.Runtime") && frame.getMethodName().equals("exit")) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    returned = true;
    NativeLibrary.notBeforeShutdown(this);
  }
}
