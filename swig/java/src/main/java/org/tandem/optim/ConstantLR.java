package org.tandem.optim;

/** Multiplies rates with a factor for a number of steps. Source: torch.optim.lr_scheduler.ConstantLR. */
public final class ConstantLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options factor(double value) { return set("factor", value); }

    public Options totalIters(long value) { return set("total_iters", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public ConstantLR(Optimizer optimizer) { this(optimizer, new Options()); }

  public ConstantLR(Optimizer optimizer, Options more) { super("ConstantLR", optimizer, more.all()); }
}
