package org.tandem.dist;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.tandem.DType;
import org.tandem.Device;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeDdp;
import org.tandem.internal.NativeDdpOptions;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;
import org.tandem.internal.Nested;
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
    private boolean averageBySamples;
    private DType paramType;
    private DType reduceType;
    private DType bufferType;

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

    /**
     * A rank's gradient counts as much as its batch has samples: the first dimension of the first tensor in the
     * inputs, unless {@link DistributedDataParallel#setBatchSamples} says otherwise.
     */
    public Options averageBySamples(boolean value) {
      averageBySamples = value;
      return this;
    }

    /**
     * What the module computes in and inputs are cast to, what gradients are exchanged in, and what buffers become;
     * null: what they are, and for gradients {@code param}. Parameters and gradients stay as they are.
     */
    public Options mixedPrecision(DType param, DType reduce, DType buffer) {
      paramType = param;
      reduceType = reduce;
      bufferType = buffer;
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
      natives.setAverageBySamples(options.averageBySamples);
      if (options.paramType != null) {
        natives.setParamDtype(options.paramType.number());
      }
      if (options.reduceType != null) {
        natives.setReduceDtype(options.reduceType.number());
      }
      if (options.bufferType != null) {
        natives.setBufferDtype(options.bufferType.number());
      }
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
    return forward(input, module::call);
  }

  /**
   * Calls {@code forward}, a method of the module or a function that calls the module once:
   *
   * <pre>{@code
   * record Batch(Tensor source, Tensor target, Tensor mask) {}
   * record Translation(Tensor logits, List<Tensor> weights) {}
   *
   * Translation out = ddp.forward(new Batch(source, target, null), model::translate);
   * loss(out.logits()).backward();
   * }</pre>
   *
   * Inputs and outputs are tensors, or records, lists, sets, values of maps, entries, arrays and optionals of them, at any
   * depth; null where one is not there. Tensors in fields of other classes, and in holders such as AtomicReference and
   * Stream, are refused. The loss is computed from what this gives, all of it or some: with findUnusedParameters,
   * parameters that only lead to the rest are found.
   *
   * <p>Where this replaces a tensor, what holds it is copied; else it is handed on as it is. Copies of java.util's public
   * classes keep class, order and comparator, those of List.of(), Arrays.asList(), views and the like are unmodifiable.
   *
   * @throws org.tandem.TandemInvalidArgumentException a tensor would have to be replaced in a list, set or map of another
   *     class, or is where it is refused
   * @throws org.tandem.TandemInvalidArgumentException forward gives no tensor, while gradients are on
   */
  public <I, O> O forward(I inputs, Function<? super I, ? extends O> forward) {
    String operation = "DistributedDataParallel.forward";
    NativeDdp ddp = open();
    NativeTensor[] cast = ddp.prepareForward(module.isTraining(), Natives.of(Nested.tensorsIn(inputs, operation)));
    O output;
    NativeTensor[] prepared = null;
    try {
      I own = cast.length == 0 ? inputs : Nested.withTensors(inputs, Natives.tensors(cast), operation);
      output = forward.apply(own);
      prepared = ddp.prepareBackward(Natives.of(Nested.tensorsIn(output, operation)));
    } finally {
      if (prepared == null && !handle.isClosed()) {
        ddp.cancelForward(); // parameters that were lowered for it would stay so
      }
    }
    return Nested.withTensors(output, Natives.tensors(prepared), operation);
  }

  /** Until it is closed, gradients accumulate without being exchanged. Source: DDP's no_sync. */
  public NoSync noSync() {
    NoSync previous = new NoSync(sync);
    setSync(false);
    return previous;
  }

  /**
   * How many samples the next batches have, for {@link Options#averageBySamples}, where that is not the first dimension
   * of the first tensor in the inputs; -1: it is again.
   */
  public void setBatchSamples(long samples) {
    open().setBatchSamples(samples);
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
  public Module to(Device device, DType dtype) {
    throw new org.tandem.TandemInvalidArgumentException(
        "DistributedDataParallel.to", "its buckets stay where they are; move the module before wrapping it");
  }

  /** Frees the reducer; the module stays open. */
  @Override
  public void close() {
    handle.close();
  }
}
