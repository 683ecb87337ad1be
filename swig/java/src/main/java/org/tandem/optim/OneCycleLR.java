package org.tandem.optim;

/**
 * Goes up to {@code maxLR} and down to next to nothing, once. {@code totalSteps}, or {@code epochs} and
 * {@code stepsPerEpoch}, must be set.
 * One number for all groups, or one for each.
 * Source: torch.optim.lr_scheduler.OneCycleLR.
 */
public final class OneCycleLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options totalSteps(long value) { return set("total_steps", value); }

    public Options epochs(long value) { return set("epochs", value); }

    public Options stepsPerEpoch(long value) { return set("steps_per_epoch", value); }

    /** The part of the steps that go upwards. */
    public Options pctStart(double value) { return set("pct_start", value); }

    /** "cos" or "linear". */
    public Options annealStrategy(String value) { return set("anneal_strategy", value); }

    /** Momentum, or the first of betas, goes the other way. */
    public Options cycleMomentum(boolean value) { return set("cycle_momentum", value); }

    /** One number for all groups, or one for each. */
    public Options baseMomentum(double... value) { return set("base_momentum", value); }

    /** One number for all groups, or one for each. */
    public Options maxMomentum(double... value) { return set("max_momentum", value); }

    /** {@code maxLR} by the first rate. */
    public Options divFactor(double value) { return set("div_factor", value); }

    /** The first rate by the last. */
    public Options finalDivFactor(double value) { return set("final_div_factor", value); }

    /** Down as slowly as up, then on to the last rate. */
    public Options threePhase(boolean value) { return set("three_phase", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public OneCycleLR(Optimizer optimizer, double[] maxLR) { this(optimizer, maxLR, new Options()); }

  public OneCycleLR(Optimizer optimizer, double[] maxLR, Options more) {
    super("OneCycleLR", optimizer, more.with("max_lr", maxLR));
  }
}
