package org.tandem.optim;

import org.tandem.internal.OwnFunctions;

/** Multiplies each group's initial rate with a function at each step. Source: torch.optim.lr_scheduler.LambdaLR. */
public final class LambdaLR extends LRScheduler {
  /**
   * What a rate is multiplied with. It must use neither the optimizer nor the scheduler; what it throws is the cause of
   * the exception of a step, which then changes nothing.
   */
  @FunctionalInterface
  public interface Factor {
    /** @param epoch the number of steps so far */
    double at(int group, long epoch) throws Exception;
  }

  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public LambdaLR(Optimizer optimizer, Factor factor) { this(optimizer, factor, new Options()); }

  public LambdaLR(Optimizer optimizer, Factor factor, Options more) {
    super(OwnFunctions.scheduler(
        "LambdaLR", optimizer.open(), more.all(), (group, at) -> factor.at((int) group, (long) at)));
  }
}
