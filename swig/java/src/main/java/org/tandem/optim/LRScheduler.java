package org.tandem.optim;

import org.tandem.Options;
import org.tandem.internal.NativeLrScheduler;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.Natives;

/** A scheduler that goes by steps. The known kinds have classes of their own. */
public class LRScheduler extends Scheduler {
  /**
   * @param type "StepLR", "CosineAnnealingLR" and so on
   * @param options by Python's names; what is not set has PyTorch's default
   */
  public LRScheduler(String type, Optimizer optimizer, Options options) { this(made(type, optimizer, options)); }

  LRScheduler(NativeLrScheduler handle) { super(handle); }

  static NativeLrScheduler made(String type, Optimizer optimizer, Options options) {
    try (NativeOptions natives = Natives.of(options)) {
      return new NativeLrScheduler(type, optimizer.open(), natives);
    }
  }

  /** Goes on by one. Call it after the optimizer's. */
  public void step() { open().step(); }

  static NativeLrScheduler[] handles(LRScheduler[] schedulers) {
    NativeLrScheduler[] handles = new NativeLrScheduler[schedulers.length];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = schedulers[i].open();
    }
    return handles;
  }
}
