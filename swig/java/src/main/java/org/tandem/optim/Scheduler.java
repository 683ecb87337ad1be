package org.tandem.optim;

import java.util.Map;
import org.tandem.TandemClosedException;
import org.tandem.internal.NativeArguments;
import org.tandem.internal.NativeLrScheduler;
import org.tandem.internal.NativeResults;
import org.tandem.internal.PlainValues;

/**
 * Changes the learning rates of an optimizer's groups, and cycles momentums where it says so: at once when it is made,
 * and with each step. It keeps the optimizer. One thread at a time may use it and the optimizer. The collector frees it
 * too. Source: torch.optim.lr_scheduler.
 */
public abstract class Scheduler implements AutoCloseable {
  private final NativeLrScheduler handle;

  Scheduler(NativeLrScheduler handle) { this.handle = handle; }

  final NativeLrScheduler open() {
    if (handle.isClosed()) {
      throw new TandemClosedException(getClass().getSimpleName(), "the scheduler was closed before this call");
    }
    return handle;
  }

  /** Each group's rate, as the last step left it. */
  public double[] lastLR() { return open().lastLr(); }

  /**
   * What it goes on from, with the names and values of Python's state_dict(): Double, Long, Boolean, String, null, and
   * lists and maps of such. Functions are no part of it.
   */
  public Map<String, Object> stateDict() {
    try (NativeResults state = open().state()) {
      return PlainValues.map(state, 0);
    }
  }

  /**
   * Goes on from a state, of this scheduler or of one that was made alike, and sets the groups' rates, and cycled
   * momentums, to what they were. All or nothing.
   *
   * @throws org.tandem.TandemInvalidArgumentException a name is missing or unknown, or a value of another type
   */
  public void loadStateDict(Map<String, ?> state) {
    try (NativeArguments arguments = PlainValues.arguments(state)) {
      open().loadState(arguments);
    }
  }

  /** Frees it before the collector does. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
