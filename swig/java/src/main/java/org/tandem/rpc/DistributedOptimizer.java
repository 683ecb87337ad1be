package org.tandem.rpc;

import java.util.List;
import org.tandem.Options;
import org.tandem.TandemClosedException;
import org.tandem.internal.NativeDistributedOptimizer;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.NativeRref;
import org.tandem.internal.Natives;

/**
 * Steps parameters on the workers that have them, with an optimizer and its state on each. Must be closed. Source:
 * torch.distributed.optim.DistributedOptimizer.
 */
public final class DistributedOptimizer implements AutoCloseable {
  /** How owners make their steps. */
  public static final class Settings {
    private boolean locked = true;
    private String beforeStep = "";
    private String afterStep = "";

    /** One step at a time on each owner; false: several may update the same parameters at a time (Hogwild!). */
    public Settings locked(boolean value) {
      locked = value;
      return this;
    }

    /** A function that each owner has registered, called there before its step with the id of the {@link AutogradContext}. */
    public Settings beforeStep(String function) {
      beforeStep = function;
      return this;
    }

    /** The same after the step. */
    public Settings afterStep(String function) {
      afterStep = function;
      return this;
    }
  }

  private final NativeDistributedOptimizer handle;

  public DistributedOptimizer(String type, List<RRef> parameters, Options options) {
    this(type, parameters, options, new Settings());
  }

  /**
   * Of references to tensors without history that require gradients. {@code type} is an optimizer of torch.optim but LBFGS, with
   * options by LibTorch's names ("lr").
   *
   * @throws org.tandem.TandemInvalidArgumentException no parameters
   * @throws org.tandem.TandemNotFoundException no such optimizer or option, naming the worker
   */
  public DistributedOptimizer(String type, List<RRef> parameters, Options options, Settings settings) {
    NativeLibrary.load();
    NativeRref[] handles = parameters.stream().map(Natives::of).toArray(NativeRref[]::new);
    try (NativeOptions natives = Natives.of(options)) {
      handle = new NativeDistributedOptimizer(type, handles, natives, settings.locked, settings.beforeStep, settings.afterStep);
    }
  }

  private NativeDistributedOptimizer nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("DistributedOptimizer", "the optimizer was closed before this use");
    }
    return handle;
  }

  /**
   * Applies the gradients of a pass, on all owners at a time. Others may have made their step where one fails.
   *
   * @throws org.tandem.TandemClosedException a pass that was closed before
   * @throws org.tandem.TandemNotFoundException no owner had part in the pass
   */
  public void step(AutogradContext pass) { nativeHandle().step(pass.checked()); }

  /** On all owners, for schedules of learning rates. */
  public void setOptions(Options options) {
    try (NativeOptions natives = Natives.of(options)) {
      nativeHandle().setOptions(natives);
    }
  }

  /** The owners drop theirs. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
