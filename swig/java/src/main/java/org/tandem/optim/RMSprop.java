package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Divides steps by the root of a running mean of squared gradients. Source: torch.optim.RMSprop. */
public final class RMSprop extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options alpha(double value) { return set("alpha", value); }

    public Options eps(double value) { return set("eps", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options momentum(double value) { return set("momentum", value); }

    public Options centered(boolean value) { return set("centered", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public RMSprop(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  public RMSprop(List<Tensor> parameters, double learningRate, Options more) {
    super("RMSprop", parameters, more.with("lr", learningRate));
  }
}
