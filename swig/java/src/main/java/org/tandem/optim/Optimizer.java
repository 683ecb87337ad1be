package org.tandem.optim;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.Options;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeNamedTensors;
import org.tandem.internal.NativeOptimizer;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;

/** Updates parameters from their gradients. The known kinds have classes of their own. */
public class Optimizer implements AutoCloseable {
  private final NativeOptimizer handle;

  /**
   * @param type "SGD", "Adam", "AdamW", "Adagrad" or "RMSprop"
   * @param options with LibTorch's names; what is not set has PyTorch's default
   */
  public Optimizer(String type, List<Tensor> parameters, Options options) {
    NativeLibrary.load();
    try (NativeOptions natives = Natives.of(options)) {
      handle = new NativeOptimizer(type, Natives.of(parameters), natives);
    }
  }

  private NativeOptimizer open() {
    if (handle.isClosed()) {
      throw new TandemClosedException(getClass().getSimpleName(), "the optimizer was closed before this call");
    }
    return handle;
  }

  public void step() {
    open().step();
  }

  /** Drops gradients; those that are views of DDP's buckets are zeroed in place. */
  public void zeroGrad() {
    open().zeroGrad(true);
  }

  public void setLearningRate(double rate) {
    open().setOption("lr", rate);
  }

  public double learningRate() {
    return open().getOption("lr");
  }

  /** State by name ("0.momentum_buffer"), sharing storage with the optimizer. */
  public Map<String, Tensor> stateDict() {
    Map<String, Tensor> state = new LinkedHashMap<>();
    try (NativeNamedTensors list = open().state()) {
      String[] names = list.names();
      NativeTensor[] tensors = list.tensors();
      for (int i = 0; i < names.length; i++) {
        state.put(names[i], Natives.tensor(tensors[i]));
      }
    }
    return state;
  }

  public void loadStateDict(Map<String, Tensor> state) {
    open().loadState(state.keySet().toArray(String[]::new), Natives.of(state.values()));
  }

  @Override
  public void close() {
    handle.close();
  }
}
