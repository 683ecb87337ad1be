package org.tandem.optim;

import java.util.Map;
import org.tandem.TandemClosedException;
import org.tandem.internal.NativeLrScheduler;
import org.tandem.internal.NativeResults;
import org.tandem.internal.Values;

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
   * lists and maps of such, whose keys are String, or Long in MultiStepLR's milestones; for {@link org.tandem.PtFile}.
   * Functions are no part of it.
   */
  @SuppressWarnings("unchecked") // a dict, whose own keys are text
  public Map<String, Object> stateDict() {
    try (NativeResults state = open().state()) {
      return (Map<String, Object>) Values.take("Scheduler.stateDict", state);
    }
  }

  /**
   * Goes on from a state, of this scheduler, or of one of Python's, that was made alike, and sets the groups' rates, and
   * cycled momentums, to what they were. All or nothing.
   *
   * @throws org.tandem.TandemInvalidArgumentException a name is missing or unknown, or a value of another type
   */
  public void loadStateDict(Object stateDict) {
    Values.give("Scheduler.loadStateDict", stateDict, open()::loadState);
  }

  /** Frees it before the collector does. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
