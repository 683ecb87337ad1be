package org.tandem.optim;

import java.util.function.DoubleUnaryOperator;
import org.tandem.internal.NativeLrScheduler;
import org.tandem.internal.OwnFunctions;

/**
 * Goes from {@code baseLR} to {@code maxLR} and back, again and again: one number for all groups, or one for each.
 * Source: torch.optim.lr_scheduler.CyclicLR.
 */
public final class CyclicLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    private DoubleUnaryOperator scale;

    /**
     * In the place of a mode: how large a cycle is, of the cycle's number or of the number of steps. What holds for
     * {@link LambdaLR.Factor} holds for it.
     */
    public Options scaleFn(DoubleUnaryOperator value) {
      scale = value;
      return this;
    }

    public Options stepSizeUp(long value) { return set("step_size_up", value); }

    /** Unset: as many as upwards. */
    public Options stepSizeDown(long value) { return set("step_size_down", value); }

    /** "triangular", "triangular2" or "exp_range". */
    public Options mode(String value) { return set("mode", value); }

    /** Of "exp_range". */
    public Options gamma(double value) { return set("gamma", value); }

    /** Of {@link #scaleFn}: "cycle" or "iterations". */
    public Options scaleMode(String value) { return set("scale_mode", value); }

    /** Momentum, or the first of betas, goes the other way. */
    public Options cycleMomentum(boolean value) { return set("cycle_momentum", value); }

    /** One number for all groups, or one for each. */
    public Options baseMomentum(double... value) { return set("base_momentum", value); }

    /** One number for all groups, or one for each. */
    public Options maxMomentum(double... value) { return set("max_momentum", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public CyclicLR(Optimizer optimizer, double[] baseLR, double[] maxLR) {
    this(optimizer, baseLR, maxLR, new Options());
  }

  public CyclicLR(Optimizer optimizer, double[] baseLR, double[] maxLR, Options more) {
    super(made(optimizer, more.with("base_lr", baseLR).set("max_lr", maxLR), more.scale));
  }

  private static NativeLrScheduler made(Optimizer optimizer, org.tandem.Options all, DoubleUnaryOperator scale) {
    return scale == null
        ? made("CyclicLR", optimizer, all)
        : OwnFunctions.scheduler("CyclicLR", optimizer.open(), all, (group, at) -> scale.applyAsDouble(at));
  }
}
