package org.tandem.optim;

import java.util.List;
import java.util.Map;
import org.tandem.Options;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeNamedTensors;
import org.tandem.internal.NativeOptimizer;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.NativeResults;
import org.tandem.internal.Natives;
import org.tandem.internal.OwnFunctions;
import org.tandem.internal.Values;

/** Updates parameters from their gradients. The known kinds have classes of their own. */
public class Optimizer implements AutoCloseable {
  /** In place of a group's number: all of them. */
  public static final int ALL_GROUPS = -1;

  private final NativeOptimizer handle;

  /**
   * @param type "SGD", "AdamW" and so on
   * @param options by Python's names; what is not set has PyTorch's default
   */
  public Optimizer(String type, List<Tensor> parameters, Options options) {
    NativeLibrary.load();
    try (NativeOptions natives = Natives.of(options)) {
      handle = new NativeOptimizer(type, Natives.of(parameters), natives);
    }
  }

  final NativeOptimizer open() {
    if (handle.isClosed()) {
      throw new TandemClosedException(getClass().getSimpleName(), "the optimizer was closed before this call");
    }
    return handle;
  }

  /** @throws org.tandem.TandemUnsupportedException it is {@link LBFGS}, which needs a closure */
  public void step() {
    open().step();
  }

  /**
   * Calls the closure, then steps; {@link LBFGS} calls it several times. What it throws is the cause of the exception
   * that ends the step; parameters are where they were then.
   *
   * <pre>{@code
   * Tensor first = lbfgs.step(() -> {
   *   lbfgs.zeroGrad();
   *   Tensor loss = net.forward(x).sub(y).pow(2).mean();
   *   loss.backward();
   *   return loss;
   * });
   * }</pre>
   *
   * @return the loss of the first call
   */
  public Tensor step(Closure closure) { return OwnFunctions.step(open(), closure); }

  /** Drops gradients; those that are views of DDP's buckets are zeroed in place. */
  public void zeroGrad() {
    open().zeroGrad(true);
  }

  /**
   * Has this optimizer step more parameters, with settings of their own: what {@code options} leave out is as the
   * optimizer was made, whatever {@link #set} changed since. What it was made of is group 0. Source:
   * torch.optim.Optimizer.add_param_group.
   *
   * @throws org.tandem.TandemInvalidArgumentException there are no parameters, or one is in a group already
   */
  public void addGroup(List<Tensor> parameters, Options options) {
    try (NativeOptions natives = Natives.of(options)) {
      open().addGroup(Natives.of(parameters), natives);
    }
  }

  public int groupCount() { return (int) open().groupCount(); }

  /** Changes settings of a group or of {@link #ALL_GROUPS}, one after the other, by their names in torch.optim. */
  public void set(int group, Options options) {
    try (NativeOptions natives = Natives.of(options)) {
      open().setOptions(group, natives);
    }
  }

  /**
   * A number that a group has, or all have.
   *
   * @throws org.tandem.TandemInvalidArgumentException the groups have different ones, or it is no number
   * @throws org.tandem.TandemNotFoundException there is no such setting; the message lists those that there are
   */
  public double getDouble(int group, String name) {
    try (NativeResults found = open().option(group, name)) {
      return found.real(0);
    }
  }

  /** As {@link #getDouble}: a flag, such as "nesterov". */
  public boolean getBoolean(int group, String name) {
    try (NativeResults found = open().option(group, name)) {
      return found.flag(0);
    }
  }

  /** As {@link #getDouble}: "betas", which are two numbers. */
  public double[] getDoubles(int group, String name) {
    try (NativeResults found = open().option(group, name)) {
      return found.reals(0);
    }
  }

  /** Of all groups. */
  public void setLearningRate(double rate) { set(ALL_GROUPS, new Options().set("lr", rate)); }

  /**
   * Of all groups.
   *
   * @throws org.tandem.TandemInvalidArgumentException they have different ones
   */
  public double learningRate() { return getDouble(ALL_GROUPS, "lr"); }

  /** State by name ("0.momentum_buffer"), sharing storage with the optimizer. */
  public Map<String, Tensor> state() {
    try (NativeNamedTensors list = open().state()) {
      return Natives.named(list);
    }
  }

  public void loadState(Map<String, Tensor> state) {
    open().loadState(state.keySet().toArray(String[]::new), Natives.of(state.values()));
  }

  /**
   * The state as Python's optimizer.state_dict() has it, of "state" and "param_groups", the options of all groups
   * included; for {@link org.tandem.PtFile}. Tensors share storage with the optimizer.
   */
  @SuppressWarnings("unchecked") // a dict
  public Map<Object, Object> stateDict() {
    try (NativeResults dict = open().stateDict()) {
      return (Map<Object, Object>) Values.take("Optimizer.stateDict", dict);
    }
  }

  /**
   * Takes over what {@link #stateDict} gave, or Python's: options of all groups, and copies of tensors; all or nothing.
   *
   * @throws org.tandem.TandemInvalidArgumentException groups have other numbers of parameters, or there is what this
   *     optimizer has not
   */
  public void loadStateDict(Object stateDict) {
    Values.give("Optimizer.loadStateDict", stateDict, open()::loadStateDict);
  }

  @Override
  public void close() {
    handle.close();
  }
}
