package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/**
 * Makes the momentum of matrices orthogonal. Takes matrices alone, which are to be of hidden layers.
 * Source: torch.optim.Muon.
 */
public final class Muon extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options momentum(double value) { return set("momentum", value); }

    public Options nesterov(boolean value) { return set("nesterov", value); }

    public Options nsCoefficients(double a, double b, double c) {
      return set("ns_coefficients", new double[] {a, b, c});
    }

    public Options eps(double value) { return set("eps", value); }

    public Options nsSteps(long value) { return set("ns_steps", value); }

    /** "original" or "match_rms_adamw". */
    public Options adjustLrFn(String value) { return set("adjust_lr_fn", value); }
  }

  public Muon(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public Muon(List<Tensor> parameters, double learningRate, Options more) {
    super("Muon", parameters, more.with("lr", learningRate));
  }
}
