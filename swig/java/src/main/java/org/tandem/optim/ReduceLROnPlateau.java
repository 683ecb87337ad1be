package org.tandem.optim;

/**
 * Multiplies rates with a factor when a metric does not become better any more. Source:
 * torch.optim.lr_scheduler.ReduceLROnPlateau.
 */
public final class ReduceLROnPlateau extends Scheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    /** "min": the metric is to become small; "max". */
    public Options mode(String value) { return set("mode", value); }

    public Options factor(double value) { return set("factor", value); }

    /** Steps without a better metric that are let pass. */
    public Options patience(long value) { return set("patience", value); }

    /** By how much better is better. */
    public Options threshold(double value) { return set("threshold", value); }

    /** "rel": of the best so far; "abs". */
    public Options thresholdMode(String value) { return set("threshold_mode", value); }

    /** Steps after a reduction that do not count. */
    public Options cooldown(long value) { return set("cooldown", value); }

    /** One number for all groups, or one for each. */
    public Options minLR(double... value) { return set("min_lr", value); }

    /** A smaller change is not made. */
    public Options eps(double value) { return set("eps", value); }
  }

  public ReduceLROnPlateau(Optimizer optimizer) { this(optimizer, new Options()); }

  public ReduceLROnPlateau(Optimizer optimizer, Options more) {
    super(LRScheduler.made("ReduceLROnPlateau", optimizer, more.all()));
  }

  /** Tells what is to become small, or great: a loss, an accuracy. Call it after validation. */
  public void step(double metric) { open().stepMetric(metric); }
}
