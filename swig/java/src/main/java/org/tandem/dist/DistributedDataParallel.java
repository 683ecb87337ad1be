package org.tandem.dist;

import java.util.Map;
import org.tandem.Device;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeDdp;
import org.tandem.internal.NativeDdpOptions;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;
import org.tandem.nn.Module;

/**
 * A module whose gradients are averaged over all ranks while backward runs. Parameters and buffers begin as rank 0's.
 * Wrap the module before the optimizer is made, and call this forward instead of the module's. Must be closed, before
 * its group. Source: torch.nn.parallel.DistributedDataParallel.
 */
public final class DistributedDataParallel extends Module {
  /** Defaults are PyTorch's. */
  public static final class Options {
    private double bucketCapMb = 25;
    private boolean broadcastBuffers = true;
    private boolean findUnusedParameters;
    private boolean gradientAsBucketView;
    private boolean staticGraph;

    /** MiB of gradients that travel together. */
    public Options bucketCapMb(double value) {
      bucketCapMb = value;
      return this;
    }

    /** From rank 0, before each forward that trains. */
    public Options broadcastBuffers(boolean value) {
      broadcastBuffers = value;
      return this;
    }

    /** Needed when a forward does not use all parameters. */
    public Options findUnusedParameters(boolean value) {
      findUnusedParameters = value;
      return this;
    }

    /** Saves a copy and the memory of the gradients. */
    public Options gradientAsBucketView(boolean value) {
      gradientAsBucketView = value;
      return this;
    }

    /** Every iteration uses the same parameters in the same way. */
    public Options staticGraph(boolean value) {
      staticGraph = value;
      return this;
    }
  }

  private final Module module;
  private final NativeDdp handle;
  private boolean sync = true;

  public DistributedDataParallel(Module module, ProcessGroup group) {
    this(module, group, new Options());
  }

  public DistributedDataParallel(Module module, ProcessGroup group, Options options) {
    this.module = register("module", module);
    Map<String, Tensor> parameters = module.namedParameters();
    try (NativeDdpOptions natives = new NativeDdpOptions()) {
      natives.setBucketCapMb(options.bucketCapMb);
      natives.setBroadcastBuffers(options.broadcastBuffers);
      natives.setFindUnusedParameters(options.findUnusedParameters);
      natives.setGradientAsBucketView(options.gradientAsBucketView);
      natives.setStaticGraph(options.staticGraph);
      handle = new NativeDdp(group.nativeHandle(), Natives.of(parameters.values()),
          parameters.keySet().toArray(String[]::new), Natives.of(module.namedBuffers().values()), natives);
    }
  }

  /** The module that is wrapped. */
  public Module module() {
    return module;
  }

  private NativeDdp open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("DistributedDataParallel", "it was closed before this call");
    }
    return handle;
  }

  @Override
  public Tensor forward(Tensor input) {
    open().prepareForward(module.isTraining());
    Tensor output = module.forward(input);
    if (output.requiresGrad()) {
      open().prepareBackward(new NativeTensor[] {Natives.of(output)});
    }
    return output;
  }

  /** Until it is closed, gradients accumulate without being exchanged. Source: DDP's no_sync. */
  public NoSync noSync() {
    NoSync previous = new NoSync(sync);
    setSync(false);
    return previous;
  }

  private void setSync(boolean on) {
    sync = on;
    open().setRequireBackwardGradSync(on);
  }

  /** Restores, when closed, what was before. A second close() does nothing. */
  public final class NoSync implements AutoCloseable {
    private final boolean previous;
    private boolean closed;

    private NoSync(boolean previous) {
      this.previous = previous;
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        setSync(previous);
      }
    }
  }

  /** Move the module before it is wrapped. */
  @Override
  public Module to(Device device) {
    throw new org.tandem.TandemInvalidArgumentException(
        "DistributedDataParallel.to", "its buckets stay where they are; move the module before wrapping it");
  }

  /** Frees the reducer; the module stays open. */
  @Override
  public void close() {
    handle.close();
  }
}
