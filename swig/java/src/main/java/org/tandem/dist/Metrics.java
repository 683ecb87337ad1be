package org.tandem.dist;

import java.time.Duration;
import java.util.Objects;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.TandemNative;

/**
 * What a rank measures while it trains, for the launcher that started it: its progress line, {@code tandem top},
 * Prometheus and TensorBoard (docs/metrics.md). After a step: {@code new Metrics().samples(64).loss(loss).report()}. Not
 * for several threads at once.
 */
public final class Metrics {
  private long step;
  private long epoch;
  private long samples;
  private boolean hasLoss;
  private double loss;
  private Duration waited = Duration.ZERO;

  /** Completed so far. Unset: one more than at the report before, or as many as {@code Elastic.run} counts. */
  public Metrics step(long completed) {
    step = completed;
    return this;
  }

  /** Over the data, from 1. Unset: as before. */
  public Metrics epoch(long number) {
    epoch = number;
    return this;
  }

  /** How many samples this rank trained since the report before. */
  public Metrics samples(long count) {
    samples = count;
    return this;
  }

  /** Unset: as before. */
  public Metrics loss(double value) {
    loss = value;
    hasLoss = true;
    return this;
  }

  /** For other ranks since the report before, beside what DistributedDataParallel counts on CPUs. */
  public Metrics waited(Duration time) {
    waited = Objects.requireNonNull(time, "time");
    return this;
  }

  /**
   * Once a step, or less often: tells the launcher. It waits for nobody, and does nothing where no {@code tandem run} of
   * this machine started the process.
   *
   * @throws TandemInvalidArgumentException a number or a time is negative
   */
  public void report() {
    if (waited.isNegative()) {
      throw new TandemInvalidArgumentException(
          "Metrics.report", "waited is " + waited + "; it is a time since the report before, 0 or more");
    }
    NativeLibrary.load();
    double seconds = waited.getSeconds() + waited.getNano() * 1e-9;
    TandemNative.reportMetrics(step, epoch, samples, hasLoss, loss, seconds);
  }
}
