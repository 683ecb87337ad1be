package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Stochastic gradient descent. Source: torch.optim.SGD. */
public final class SGD extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options momentum(double value) { return set("momentum", value); }

    public Options dampening(double value) { return set("dampening", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options nesterov(boolean value) { return set("nesterov", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public SGD(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  public SGD(List<Tensor> parameters, double learningRate, Options more) {
    super("SGD", parameters, more.with("lr", learningRate));
  }
}
