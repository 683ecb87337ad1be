package org.tandem.optim;

import java.util.List;
import java.util.Map;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeAveragedParameters;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeNamedTensors;
import org.tandem.internal.Natives;

/**
 * Averages of parameters over training, and of buffers, beside them: exponential moving ones (EMA) or means (SWA). They
 * keep the tensors. One thread at a time may use them. The collector frees them too.
 *
 * <pre>{@code
 * Averages ema = Averages.ema(net.parameters(), List.of(), 0.999);
 * for (…) {
 *   … optimizer.step();
 *   ema.update();
 * }
 * ema.swap(); // evaluate
 * ema.swap(); // train on
 * }</pre>
 *
 * <p>Source: torch.optim.swa_utils.AveragedModel.
 */
public final class Averages implements AutoCloseable {
  private final NativeAveragedParameters handle;

  private Averages(List<Tensor> parameters, List<Tensor> buffers, double decay, boolean useBuffers) {
    NativeLibrary.load();
    handle = new NativeAveragedParameters(Natives.of(parameters), Natives.of(buffers), decay, useBuffers);
  }

  /**
   * decay · average + (1 - decay) · weight. Buffers are copied at each update.
   *
   * @throws org.tandem.TandemInvalidArgumentException the decay is not from 0 to 1
   */
  public static Averages ema(List<Tensor> parameters, List<Tensor> buffers, double decay) {
    return ema(parameters, buffers, decay, false);
  }

  /** {@code useBuffers}: buffers are averaged like parameters. */
  public static Averages ema(List<Tensor> parameters, List<Tensor> buffers, double decay, boolean useBuffers) {
    // What is no number stands for means below.
    return new Averages(parameters, buffers, Double.isNaN(decay) ? -1 : decay, useBuffers);
  }

  /** The mean of what the tensors have at each update. Buffers are copied at each update. */
  public static Averages swa(List<Tensor> parameters, List<Tensor> buffers) { return swa(parameters, buffers, false); }

  /** {@code useBuffers}: buffers are averaged like parameters. */
  public static Averages swa(List<Tensor> parameters, List<Tensor> buffers, boolean useBuffers) {
    return new Averages(parameters, buffers, Double.NaN, useBuffers);
  }

  private NativeAveragedParameters open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Averages", "the averages were closed before this call");
    }
    return handle;
  }

  /** Takes what the tensors have now into the averages; the first time they become that. After the optimizer's step. */
  public void update() { open().update(); }

  /** Exchanges the numbers of the tensors and of the averages: to evaluate with these, and back. */
  public void swap() { open().swap(); }

  /** "n_averaged", the number of updates, "parameter.0", "buffer.0" and so on, sharing storage. */
  public Map<String, Tensor> stateDict() {
    try (NativeNamedTensors list = open().state()) {
      return Natives.named(list);
    }
  }

  /** Copies. All or nothing. */
  public void loadStateDict(Map<String, Tensor> state) {
    open().loadState(state.keySet().toArray(String[] ::new), Natives.of(state.values()));
  }

  /** Frees them before the collector does. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
