package org.tandem.optim;

/**
 * Goes to the constant rate {@code swaLR}, for {@link Averages#swa}.
 * One number for all groups, or one for each.
 * Source: torch.optim.swa_utils.SWALR.
 */
public final class SWALR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options annealEpochs(long value) { return set("anneal_epochs", value); }

    /** "cos" or "linear". */
    public Options annealStrategy(String value) { return set("anneal_strategy", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public SWALR(Optimizer optimizer, double[] swaLR) { this(optimizer, swaLR, new Options()); }

  public SWALR(Optimizer optimizer, double[] swaLR, Options more) {
    super("SWALR", optimizer, more.with("swa_lr", swaLR));
  }
}
