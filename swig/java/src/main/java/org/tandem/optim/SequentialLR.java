package org.tandem.optim;

import java.util.List;
import org.tandem.internal.NativeArguments;
import org.tandem.internal.NativeLrScheduler;
import org.tandem.internal.TandemNative;

/**
 * One scheduler after the other: at each milestone, a number of steps, the next begins, so that there is one milestone
 * fewer than schedulers. All are of one optimizer, and are not stepped by themselves any more. Source:
 * torch.optim.lr_scheduler.SequentialLR.
 */
public final class SequentialLR extends LRScheduler {
  public SequentialLR(Optimizer optimizer, List<LRScheduler> schedulers, long... milestones) {
    super(made(optimizer, handles(schedulers.toArray(new LRScheduler[0])), milestones));
  }

  private static NativeLrScheduler made(Optimizer optimizer, NativeLrScheduler[] schedulers, long[] milestones) {
    try (NativeArguments list = new NativeArguments()) {
      list.addInts(milestones);
      return TandemNative.sequentialLr(optimizer.open(), schedulers, list);
    }
  }
}
