package org.tandem.nn;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.tandem.Device;
import org.tandem.Operator;
import org.tandem.PtFile;
import org.tandem.Safetensors;
import org.tandem.StateDict;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.TandemUnsupportedException;
import org.tandem.Tensor;
import org.tandem.internal.Natives;
import org.tandem.internal.ScopeFrame;

/**
 * Base of all modules. A module of your own registers its parts and composes their forwards:
 *
 * <pre>{@code
 * final class Net extends Module {
 *   private final Linear hidden = register("hidden", new Linear(784, 128));
 *   private final Linear output = register("output", new Linear(128, 10));
 *
 *   @Override
 *   public Tensor forward(Tensor input) {
 *     return output.forward(hidden.forward(input).relu());
 *   }
 * }
 * }</pre>
 */
public abstract class Module implements AutoCloseable {
  private final Map<String, Module> children = new LinkedHashMap<>();
  private final Map<String, Tensor> parameters = new LinkedHashMap<>();
  private final Map<String, Tensor> buffers = new LinkedHashMap<>();
  private boolean training = true;

  /**
   * What modules of one input and one output compute. Others have methods of their own, of any types: see
   * {@link org.tandem.dist.DistributedDataParallel#forward(Object, java.util.function.Function)}.
   *
   * @throws TandemUnsupportedException this module is one of the others
   */
  public Tensor forward(Tensor input) {
    throw new TandemUnsupportedException(getClass().getSimpleName() + ".forward",
        "this module has no forward of one input and one output; call the method that it has instead, or override forward");
  }

  /** Adds a part and returns it. */
  protected final <M extends Module> M register(String name, M module) {
    addName(name);
    children.put(name, module);
    return module;
  }

  /** Adds a tensor that is trained, outside any scope that is open. */
  protected final Tensor registerParameter(String name, Tensor parameter) {
    addName(name);
    parameters.put(name, outliving(parameter.requiresGrad(true)));
    return parameter;
  }

  /** Adds a tensor that is state but not trained. */
  protected final Tensor registerBuffer(String name, Tensor buffer) {
    addName(name);
    buffers.put(name, outliving(buffer));
    return buffer;
  }

  /** What a native module has; names may have dots. Tensors that were there stay the objects that they are. */
  final void own(Map<String, Tensor> parametersNow, Map<String, Tensor> buffersNow) {
    replace(parameters, parametersNow);
    replace(buffers, buffersNow);
  }

  private static void replace(Map<String, Tensor> own, Map<String, Tensor> now) {
    Map<String, Tensor> before = new LinkedHashMap<>(own);
    own.clear();
    now.forEach((name, tensor) -> {
      Tensor known = before.get(name);
      if (known != null) {
        tensor.close();
      }
      own.put(name, known != null ? known : outliving(tensor));
    });
  }

  private static Tensor outliving(Tensor tensor) {
    ScopeFrame.release(Natives.of(tensor));
    return tensor;
  }

  private void addName(String name) {
    if (name.isEmpty() || name.contains(".")) {
      throw new TandemInvalidArgumentException(
          "Module.register", "'" + name + "' is no name: it is empty or has a dot");
    }
    if (children.containsKey(name) || parameters.containsKey(name) || buffers.containsKey(name)) {
      throw new TandemInvalidArgumentException("Module.register", "the name '" + name + "' is taken");
    }
  }

  /** Parameters of this module and its parts, as "part.name", in order of registration. */
  public final Map<String, Tensor> namedParameters() {
    Map<String, Tensor> all = new LinkedHashMap<>();
    collect("", all, true, false);
    return all;
  }

  public final Map<String, Tensor> namedBuffers() {
    Map<String, Tensor> all = new LinkedHashMap<>();
    collect("", all, false, true);
    return all;
  }

  public final List<Tensor> parameters() {
    return new ArrayList<>(namedParameters().values());
  }

  /** This module, as "", and all parts by their paths, each before its own parts. Source: torch.nn.Module.named_modules. */
  public final Map<String, Module> namedModules() {
    Map<String, Module> all = new LinkedHashMap<>();
    collectModules("", all);
    return all;
  }

  private void collectModules(String path, Map<String, Module> all) {
    all.put(path, this);
    children.forEach((name, child) -> child.collectModules(path.isEmpty() ? name : path + "." + name, all));
  }

  /** Calls {@code function} with all parts and then with this module. Source: torch.nn.Module.apply. */
  public final void apply(Consumer<? super Module> function) {
    children.values().forEach(child -> child.apply(function));
    function.accept(this);
  }

  /** Has autograd follow all parameters, or freezes them. Source: torch.nn.Module.requires_grad_. */
  public final Module requiresGrad(boolean on) {
    parameters().forEach(parameter -> parameter.requiresGrad(on));
    return this;
  }

  /** Elements of all parameters. */
  public final long parameterCount() {
    return parameters().stream().mapToLong(Tensor::numel).sum();
  }

  /** Parameters and buffers by name. */
  public final Map<String, Tensor> stateDict() {
    Map<String, Tensor> all = new LinkedHashMap<>();
    collect("", all, true, true);
    return all;
  }

  private void collect(String prefix, Map<String, Tensor> all, boolean withParameters, boolean withBuffers) {
    if (withParameters) {
      parameters.forEach((name, tensor) -> all.put(prefix + name, tensor));
    }
    if (withBuffers) {
      buffers.forEach((name, tensor) -> all.put(prefix + name, tensor));
    }
    children.forEach((name, child) -> child.collect(prefix + name + ".", all, withParameters, withBuffers));
  }

  /**
   * Overwrites parameters and buffers.
   *
   * @throws TandemInvalidArgumentException lists all names that are missing, or that this module does not have, and all
   *     other shapes and dtypes; nothing was changed then
   */
  public final void loadStateDict(Map<String, Tensor> state) { StateDict.load(stateDict(), state, true, false); }

  /** The same, where names without a partner are no errors. Source: load_state_dict(strict=False). */
  public final StateDict.Match loadPartialStateDict(Map<String, Tensor> state) {
    return StateDict.load(stateDict(), state, false, false);
  }

  /** Writes parameters and buffers: for Python's torch.load into *.pt, *.pth and *.bin, else as safetensors. */
  public final void save(Path path) {
    if (PtFile.isNameOf(path)) {
      PtFile.save(path, stateDict());
    } else {
      Safetensors.save(path, stateDict(), Map.of());
    }
  }

  /** Reads what {@link #save}, or Python, wrote; several safetensors files are given by their folder or index. */
  public final void load(Path path) {
    Map<String, Tensor> state =
        PtFile.isNameOf(path) ? StateDict.of(PtFile.load(path)) : Safetensors.load(path).tensors();
    try {
      loadStateDict(state);
    } finally {
      state.values().forEach(Tensor::close);
    }
  }

  /** This module, then its parts. */
  final void visit(Consumer<Module> visitor) {
    visitor.accept(this);
    children.values().forEach(child -> child.visit(visitor));
  }

  /** Dropout and batch norm behave differently while training. */
  public Module train(boolean on) {
    setTraining(on);
    children.values().forEach(child -> child.train(on));
    return this;
  }

  /** Without its parts. */
  void setTraining(boolean on) { training = on; }

  public final Module train() {
    return train(true);
  }

  public final Module eval() {
    return train(false);
  }

  public final boolean isTraining() {
    return training;
  }

  /** Moves parameters and buffers; tensors taken before follow. */
  public Module to(Device device) {
    try (Tandem.NoGrad off = Tandem.noGrad()) {
      for (Map<String, Tensor> tensors : List.of(parameters, buffers)) {
        for (Tensor tensor : tensors.values()) {
          try (Tensor moved = tensor.to(device)) {
            SetData.OPERATOR.callAll(tensor, moved);
          }
        }
      }
    }
    children.values().forEach(child -> child.to(device));
    return this;
  }

  /** Frees parameters, buffers and parts now. A second call does nothing. */
  @Override
  public void close() {
    children.values().forEach(Module::close);
    parameters.values().forEach(Tensor::close);
    buffers.values().forEach(Tensor::close);
  }

  /** Looked up at its first use. */
  private static final class SetData {
    static final Operator OPERATOR = Operator.find("aten::set_data", "");
  }
}
