package org.tandem.optim;

/** Goes to zero by a polynomial. Source: torch.optim.lr_scheduler.PolynomialLR. */
public final class PolynomialLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options totalIters(long value) { return set("total_iters", value); }

    public Options power(double value) { return set("power", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public PolynomialLR(Optimizer optimizer) { this(optimizer, new Options()); }

  public PolynomialLR(Optimizer optimizer, Options more) { super("PolynomialLR", optimizer, more.all()); }
}
