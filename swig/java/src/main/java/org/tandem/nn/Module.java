package org.tandem.nn;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.tandem.DType;
import org.tandem.Device;
import org.tandem.PtFile;
import org.tandem.Safetensors;
import org.tandem.StateDict;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.TandemNotFoundException;
import org.tandem.TandemUnsupportedException;
import org.tandem.Tensor;

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
 *
 * Names are Python's: "hidden.weight". A part that two modules register, or a tensor, has both names in the state dict and
 * is a parameter once, so layers are shared by registering one twice, and a head is tied to an embedding by {@link #tie}.
 * Several parts are held by a {@link ModuleList} or {@link ModuleDict}.
 */
public abstract class Module implements AutoCloseable, Cloneable {
  private ModuleParts parts = new ModuleParts();
  private volatile ForwardHooks hooks; // null: none were ever added
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

  /**
   * {@link #forward} with this module's hooks, as Python calls {@code module(x)}. LibTorch's modules and
   * {@link Sequential} call theirs in forward, too.
   */
  public final Tensor call(Tensor input) {
    return callsHooks() ? forward(input) : hooked(input, this::forward);
  }

  /** Whether forward does. */
  boolean callsHooks() {
    return false;
  }

  /** Whether it has parameters of another module in the place of its own. */
  boolean isTied() {
    return false;
  }

  final Tensor hooked(Tensor input, UnaryOperator<Tensor> compute) {
    ForwardHooks known = hooks;
    return known == null ? compute.apply(input) : known.around(this, input, compute);
  }

  final Tensor[] hookedAll(Object[] inputs, Function<Object[], Tensor[]> compute) {
    ForwardHooks known = hooks;
    return known == null ? compute.apply(inputs) : known.aroundAll(this, inputs, compute);
  }

  /**
   * Has {@code hook} called after each forward of this module, until what this gives is closed. LibTorch's modules and
   * {@link Sequential} call hooks in forward; of a module of your own it is {@link #call} that does, or a Sequential it is
   * in. Source: torch.nn.Module.register_forward_hook.
   */
  public final RemovableHandle registerForwardHook(ForwardHook hook) {
    return hooksToAdd().add(hook);
  }

  /** The same before each forward. Source: torch.nn.Module.register_forward_pre_hook. */
  public final RemovableHandle registerForwardPreHook(ForwardPreHook hook) {
    return hooksToAdd().add(hook);
  }

  private synchronized ForwardHooks hooksToAdd() {
    if (hooks == null) {
      hooks = new ForwardHooks();
    }
    return hooks;
  }

  /** Adds a part and returns it. */
  protected final <M extends Module> M register(String name, M module) {
    parts.checkNew(name);
    parts.children.put(name, module);
    return module;
  }

  /** Puts a part in the place of one that is there, which stays open. Make the optimizer afterwards. */
  protected final <M extends Module> M replace(String name, M module) {
    if (!parts.children.containsKey(name)) {
      throw new TandemNotFoundException(
          "Module.replace", "there is no part '" + name + "'; there are " + parts.children.keySet());
    }
    parts.children.put(name, module);
    return module;
  }

  /** Adds a tensor that is trained, outside any scope that is open. */
  protected final Tensor registerParameter(String name, Tensor parameter) {
    parts.checkNew(name);
    parts.parameters.put(name, ModuleParts.outliving(parameter.requiresGrad(true)));
    return parameter;
  }

  /** Adds a tensor that is state but not trained. */
  protected final Tensor registerBuffer(String name, Tensor buffer) {
    parts.checkNew(name);
    parts.buffers.put(name, ModuleParts.outliving(buffer));
    return buffer;
  }

  /** What it has itself. */
  final ModuleParts parts() {
    return parts;
  }

  /** Parameters of this module and its parts, each once, as "part.name", in order of registration. */
  public final Map<String, Tensor> namedParameters() {
    return ModuleParts.once(this, module -> module.parts.parameters);
  }

  /** Buffers, likewise. */
  public final Map<String, Tensor> namedBuffers() {
    return ModuleParts.once(this, module -> module.parts.buffers);
  }

  public final List<Tensor> parameters() {
    return new ArrayList<>(namedParameters().values());
  }

  /** The parts of this module, without theirs. Source: torch.nn.Module.named_children. */
  public final Map<String, Module> namedChildren() {
    return Collections.unmodifiableMap(parts.children);
  }

  /**
   * This module, as "", and all parts by their paths, each once, before its own parts. Source:
   * torch.nn.Module.named_modules.
   */
  public final Map<String, Module> namedModules() {
    return ModuleParts.modules(this);
  }

  /** The part at a path, such as "layers.0". Source: torch.nn.Module.get_submodule. */
  public final Module getSubmodule(String path) {
    return found(namedModules(), path, "module");
  }

  /** The parameter of a name, such as "layers.0.weight". Source: torch.nn.Module.get_parameter. */
  public final Tensor getParameter(String path) {
    return found(namedParameters(), path, "parameter");
  }

  /** The buffer of a name, such as "norm.running_mean". Source: torch.nn.Module.get_buffer. */
  public final Tensor getBuffer(String path) {
    return found(namedBuffers(), path, "buffer");
  }

  private <T> T found(Map<String, T> all, String path, String what) {
    T one = all.get(path);
    if (one == null) {
      throw new TandemNotFoundException(
          getClass().getSimpleName(), "there is no " + what + " '" + path + "'; there are " + all.keySet());
    }
    return one;
  }

  /**
   * Has a parameter be the same tensor as another one, by their names, as where the head of a GPT has the embedding's weight:
   * {@code gpt.tie("head.weight", "embed.weight")}, in Python {@code gpt.head.weight = gpt.embed.weight}. It is a parameter once,
   * its gradient is the sum over all uses, and the state dict has both names. The tensor that was there before is emptied: tie
   * before the optimizer and DistributedDataParallel.
   *
   * <p>The first is one of a Linear, an Embedding or a convolution that pads with zeros. Other parts are shared whole, by
   * registering one twice, and tensors of your own by registering one in both places.
   *
   * @throws TandemNotFoundException there is no parameter of one of these names
   * @throws TandemInvalidArgumentException shape, dtype or device differ, or gradients are sparse
   * @throws TandemUnsupportedException the first is of another module
   */
  public final void tie(String name, String as) { Tie.parameters(this, name, as); }

  /** Calls {@code function} with all parts and then with this module, each once. Source: torch.nn.Module.apply. */
  public final void apply(Consumer<? super Module> function) {
    ModuleParts.partsFirst(this).forEach(function);
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

  /** Elements of all parameters that are not frozen. */
  public final long trainableParameterCount() {
    return parameters().stream().filter(Tensor::requiresGrad).mapToLong(Tensor::numel).sum();
  }

  /** Parameters and buffers by name: by all their names, where parts or tensors are shared. */
  public final Map<String, Tensor> stateDict() {
    return ModuleParts.state(this);
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

  /** Dropout and batch norm behave differently while training. */
  public Module train(boolean on) {
    setTraining(on);
    parts.children.values().forEach(child -> child.train(on));
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

  /** Moves parameters, buffers and gradients; tensors taken before follow. */
  public final Module to(Device device) {
    return to(device, null);
  }

  /** Converts floating-point parameters, buffers and gradients; tensors taken before follow. */
  public final Module to(DType dtype) {
    return to(null, dtype);
  }

  /**
   * Both; null: as it is.
   *
   * @throws TandemInvalidArgumentException the dtype is none of floating-point numbers
   */
  public Module to(Device device, DType dtype) {
    if (dtype != null && !dtype.isFloatingPoint()) {
      throw new TandemInvalidArgumentException(
          "Module.to", "parameters can only be of a floating-point dtype, not " + dtype);
    }
    parts.tensors().forEach(tensor -> MoveTensor.to(tensor, device, dtype));
    parts.children.values().forEach(child -> child.to(device, dtype));
    return this;
  }

  /**
   * A copy of the tree, with parameters and buffers of its own, which require gradients where those of {@code module} do
   * and have none yet. Fields of modules, and lists, maps, arrays and records in them, refer to the copies; what else they
   * have is shared. Source: copy.deepcopy of a torch.nn.Module.
   *
   * @throws TandemInvalidArgumentException a function in a field uses modules or tensors of the tree, or fields cannot be
   *     reached, since their package is not open to this library
   */
  public static <M extends Module> M copyOf(M module) {
    return new ModuleCopier().copy(module);
  }

  /** The same class with the same fields, to be filled. */
  final Module shallowCopy() {
    try {
      return (Module) super.clone();
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** First of two steps: has tensors of its own, in the place of those of the module that this is a shallow copy of. */
  void copyTensors(ModuleCopier copier) {
    parts = parts.withTensors(copier);
  }

  /** The second: parts and hooks. */
  final void copyParts(ModuleCopier copier) {
    parts.children.replaceAll((name, child) -> copier.of(child));
    hooks = hooks == null ? null : hooks.copy();
  }

  /** Frees parameters, buffers and parts now. A second call does nothing. */
  @Override
  public void close() {
    parts.children.values().forEach(Module::close);
    parts.tensors().forEach(Tensor::close);
  }
}
