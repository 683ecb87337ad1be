package org.tandem.nn;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tandem.DType;
import org.tandem.Device;
import org.tandem.Options;
import org.tandem.TandemClosedException;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.TandemUnsupportedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeArguments;
import org.tandem.internal.NativeDevice;
import org.tandem.internal.NativeHandle;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeModule;
import org.tandem.internal.NativeNamedTensors;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;
import org.tandem.internal.ScopeFrame;
import org.tandem.internal.TandemNative;

/** A torch.nn module by its name, with LibTorch's own parameters. Each has a class of its own, too. */
public class TorchModule extends Module {
  private static final int UNCHANGED = -1; // TDM_UNCHANGED

  private final String type;
  private final Map<String, Object> options;
  private NativeModule handle;
  private Set<String> tied = Set.of(); // names of parameters that are another module's

  /**
   * @param type "Linear", "Conv2d", …: see {@link #types()}
   * @throws org.tandem.TandemNotFoundException there is no such type or option
   */
  public TorchModule(String type, Options options) {
    this.type = type;
    this.options = Natives.values(options);
    NativeLibrary.load();
    try (NativeOptions natives = Natives.of(options)) {
      handle = new NativeModule(type, natives);
    } finally {
      Reference.reachabilityFence(options); // it may have tensors
    }
    listTensors();
  }

  /** Takes a native module over, which trains or not. */
  TorchModule(String type, NativeModule handle, boolean training) {
    this.type = type;
    this.options = Map.of();
    this.handle = handle;
    super.setTraining(training);
    listTensors();
  }

  private void listTensors() {
    ScopeFrame.outside(() -> {
      try (NativeNamedTensors parameters = handle.namedParameters();
          NativeNamedTensors buffers = handle.namedBuffers()) {
        parts().own(tied(Natives.named(parameters)), Natives.named(buffers));
      }
      return null;
    });
  }

  /** Parameters that are one tensor become one here as well. */
  Map<String, Tensor> tied(Map<String, Tensor> parameters) { return parameters; }

  boolean isSparse() {
    return Boolean.TRUE.equals(options.get("sparse"));
  }

  boolean canTie() {
    return Tie.computes(type, options) && parts().parameters.keySet().stream().noneMatch(name -> name.contains("."));
  }

  @Override
  boolean isTied() {
    return !tied.isEmpty();
  }

  /** Puts a tensor of another module in the place of one of its own. */
  void tie(Tensor replaced, Tensor kept) {
    Set<String> names = new HashSet<>(tied);
    parts().parameters.replaceAll((name, tensor) -> {
      if (tensor != replaced) {
        return tensor;
      }
      names.add(name);
      return kept;
    });
    tied = names;
  }

  private void checkNotTied() {
    if (isTied()) {
      throw new TandemUnsupportedException(getClass().getSimpleName() + ".parametrize",
          "this module computes with parameters of another one (Module.tie): " + tied);
    }
  }

  @Override
  void copyTensors(ModuleCopier copier) {
    Map<String, Tensor> parameters = parts().parameters;
    Map<String, Tensor> buffers = parts().buffers;
    handle = open().clone();
    ScopeFrame.outside(() -> {
      try (NativeNamedTensors newParameters = handle.namedParameters();
          NativeNamedTensors newBuffers = handle.namedBuffers()) {
        Natives.named(newParameters).forEach((name, tensor) -> {
          if (tied.contains(name)) {
            tensor.close(); // what is emptied
          } else {
            copier.put(parameters.get(name), tensor);
          }
        });
        Natives.named(newBuffers).forEach((name, tensor) -> copier.put(buffers.get(name), tensor));
      }
      return null;
    });
    super.copyTensors(copier);
  }

  /**
   * Has a parameter of this module's own, such as "weight", be computed at each forward from others that take its place among
   * the parameters, by Python's names: "parametrizations.weight.original0". Make the optimizer afterwards. Forwards of the
   * module are then one at a time. Source: torch.nn.utils.parametrizations.
   *
   * @param kind "weight_norm" (option "dim") or "spectral_norm" ("n_power_iterations", "eps", "dim")
   * @throws org.tandem.TandemNotFoundException there is no such kind, parameter or option
   */
  public void parametrize(String kind, String name, Options options) {
    checkNotTied();
    try (NativeOptions natives = Natives.of(options)) {
      open().parametrize(kind, name, natives);
    }
    listTensors();
  }

  /** Makes what {@link #parametrize} has computed a parameter again. */
  public void removeParametrizations(String name) {
    open().removeParametrizations(name);
    listTensors();
  }

  /** Names of all types, sorted as the library has them. */
  public static String[] types() {
    NativeLibrary.load();
    return TandemNative.moduleTypes();
  }

  final NativeModule open() {
    if (handle.isClosed()) {
      throw new TandemClosedException(getClass().getSimpleName(), "the module was closed before this call");
    }
    return handle;
  }

  @Override
  public Tensor forward(Tensor input) {
    return hooked(input, this::compute);
  }

  private Tensor compute(Tensor input) {
    if (isTied()) {
      open();
      return Tie.compute(type, options, parts().parameters, input);
    }
    return Natives.tensor(open().forwardTensor(Natives.of(input)));
  }

  @Override
  boolean callsHooks() {
    return true;
  }

  /**
   * Calls a module of any inputs, as torch.nn has them: tensors, a tuple of tensors such as an LSTM's states as a
   * {@code List<Tensor>}, Boolean, Long or Integer, long[]. Optional ones are null, trailing ones may be left out.
   *
   * @return all tensors of what it gives, in order: of an LSTM's (y, (h, c)) three; null for one that is not there
   */
  public Tensor[] forwardAll(Object... inputs) {
    return hookedAll(inputs, this::computeAll);
  }

  private Tensor[] computeAll(Object[] inputs) {
    if (isTied() && inputs.length == 1 && inputs[0] instanceof Tensor only) {
      return new Tensor[] {compute(only)};
    } else if (isTied()) {
      throw new TandemInvalidArgumentException(getClass().getSimpleName() + ".forwardAll",
          "it takes one tensor, not " + inputs.length + " inputs");
    }
    List<NativeHandle> pinned = new ArrayList<>();
    try (NativeArguments arguments = new NativeArguments()) {
      for (Object input : inputs) {
        add(arguments, input, pinned);
      }
      NativeTensor[] given = open().forwardTensors(arguments);
      Tensor[] tensors = new Tensor[given.length];
      for (int i = 0; i < given.length; i++) {
        if (given[i].defined()) {
          tensors[i] = Natives.tensor(given[i]);
        } else {
          given[i].close();
        }
      }
      return tensors;
    } finally {
      pinned.forEach(NativeHandle::unpin);
    }
  }

  /**
   * The tokens [batch, length], int64, with those that a network which predicts tokens ("gpt2", "llama") adds: as many as
   * the longest row has. Nothing is recorded for autograd.
   *
   * @param options "max_new_tokens" (20), "do_sample" (false), "temperature" (1), "top_k" (50; 0: all), "top_p" (1),
   *     "eos_token_id", "pad_token_id", "attention_mask" ([batch, length], 0 at padding, on the left), "use_cache" (true)
   * @throws org.tandem.TandemUnsupportedException for other modules
   * @throws org.tandem.TandemInvalidArgumentException for more positions than the network knows
   */
  public Tensor generate(Tensor inputIds, Options options) {
    try (NativeOptions natives = Natives.of(options)) {
      return Natives.tensor(open().generate(Natives.of(inputIds), natives));
    } finally {
      Reference.reachabilityFence(options); // it may have tensors
      Reference.reachabilityFence(inputIds);
    }
  }

  private NativeTensor pin(Object tensor, List<NativeHandle> pinned) {
    if (tensor == null) {
      return null;
    }
    if (!(tensor instanceof Tensor)) {
      throw refused(tensor);
    }
    NativeTensor handle = Natives.of((Tensor) tensor);
    NativeHandle.pin(handle);
    pinned.add(handle);
    return handle;
  }

  private void add(NativeArguments arguments, Object input, List<NativeHandle> pinned) {
    if (input == null) {
      arguments.addNone();
    } else if (input instanceof List<?> tuple) {
      NativeTensor[] elements = new NativeTensor[tuple.size()];
      for (int i = 0; i < elements.length; i++) {
        elements[i] = pin(tuple.get(i), pinned);
      }
      arguments.addTuple(elements);
    } else if (input instanceof Boolean flag) {
      arguments.addBool(flag);
    } else if (input instanceof Long || input instanceof Integer) {
      arguments.addInt(((Number) input).longValue());
    } else if (input instanceof long[] numbers) {
      arguments.addInts(numbers);
    } else {
      arguments.add(pin(input, pinned));
    }
  }

  private TandemInvalidArgumentException refused(Object input) {
    return new TandemInvalidArgumentException(getClass().getSimpleName() + ".forwardAll",
        "a module takes tensors, lists of tensors, Boolean, Long, Integer, long[] and null, not "
            + input.getClass().getName());
  }

  @Override
  void setTraining(boolean on) {
    open().train(on);
    super.setTraining(on);
  }

  /** Or a network that has some in it, and no other buffers. */
  final boolean isBatchNorm() {
    return type.startsWith("BatchNorm")
        || parts().buffers.keySet().stream().anyMatch(name -> name.endsWith(".num_batches_tracked"));
  }

  /** Of a BatchNorm; NaN stands for none. Gives what it was. */
  final double setBatchNormMomentum(double momentum) { return open().setBatchNormMomentum(momentum); }

  @Override
  public Module to(Device device, DType dtype) {
    try (NativeDevice target = device == null ? new NativeDevice(UNCHANGED, -1)
                                              : new NativeDevice(device.type().number(), device.index())) {
      open().to(target, dtype == null ? UNCHANGED : dtype.number());
    }
    return this;
  }

  final String type() {
    return type;
  }

  @Override
  public void close() {
    super.close();
    handle.close();
  }
}
