package org.tandem.nn;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeModule;
import org.tandem.internal.NativeResults;
import org.tandem.internal.OwnFunctions;
import org.tandem.internal.TandemNative;
import org.tandem.internal.Values;

/**
 * A module of TorchScript, which Python's torch.jit.script, or torch.jit.trace, and torch.jit.save made: it runs,
 * trains and is saved without Python. It is a module as all others are: its parameters and buffers have Python's
 * names, so that optimizers, DistributedDataParallel, state dicts, train and to work with it. A buffer that a method
 * assigns stays the same tensor, with the new value. {@link #forward} and {@link #forwardAll} take and give tensors,
 * {@link #call} any values.
 *
 * <p>Several threads may call methods that assign no attribute, as long as nobody trains, moves or loads the module. A file is
 * a program of whoever wrote it: loading runs nothing of it, but its methods do what their code says. PyTorch has
 * deprecated TorchScript in favour of torch.export. Source: torch.jit.ScriptModule.
 */
public final class ScriptModule extends LoadedModule {
  private static final String TYPE = "ScriptModule";

  private ScriptModule(NativeModule handle) {
    super(TYPE, handle);
  }

  /**
   * A file of torch.jit.save. Its tensors come to the CPU.
   *
   * @throws org.tandem.TandemNotFoundException there is no such file
   * @throws org.tandem.TandemDataLossException it is damaged, or none of TorchScript
   * @throws org.tandem.TandemUnsupportedException it needs an operator that this LibTorch lacks, or loading would have to run some
   *     of it, as of modules of quantized operators
   */
  public static ScriptModule loadScript(Path path) {
    NativeLibrary.load();
    return new ScriptModule(TandemNative.jitLoad(path.toString()));
  }

  /** What {@link #toBytes} gives. */
  public static ScriptModule loadScript(byte[] bytes) {
    NativeLibrary.load();
    return new ScriptModule(TandemNative.jitLoadBytes(bytes));
  }

  /**
   * Functions of TorchScript as the methods of a module without tensors; each may call those above it, and the
   * functions of torch. A parameter without a type is a tensor. Of
   * {@code "def scaled(x, by: float = 2.0):\n    return torch.relu(x) * by\n"} it is called "scaled".
   *
   * @throws org.tandem.TandemInvalidArgumentException with the place where the text is wrong
   */
  public static ScriptModule compile(String source) {
    NativeLibrary.load();
    return new ScriptModule(TandemNative.jitCompile(source));
  }

  /** What a traced function computes of its inputs. */
  @FunctionalInterface
  public interface Function {
    Tensor[] compute(Tensor[] inputs) throws Exception;
  }

  /**
   * Calls {@code function} once, and makes a module whose forward computes again what it computed: of as many
   * tensors, and giving one, or a tuple. Tensors that it uses besides its inputs become the new module's own
   * parameters and buffers where they are those of {@code modules}, with which it then shares them, under their
   * names; others become constants. Choices that depend on the inputs' values or sizes are made once, here. Source:
   * torch.jit.trace.
   *
   * @throws TandemInvalidArgumentException a parameter that trains is not of {@code modules}, an output does not come
   *     from the inputs, or two modules have tensors of one name: give one module that holds both
   */
  public static ScriptModule trace(Function function, Tensor[] inputs, Module... modules) {
    NativeLibrary.load();
    Map<String, Tensor> parameters = new LinkedHashMap<>();
    Map<String, Tensor> buffers = new LinkedHashMap<>();
    for (Module module : modules) {
      addAll(parameters, module.namedParameters());
      addAll(buffers, module.namedBuffers());
    }
    return new ScriptModule(OwnFunctions.trace(function::compute, inputs, parameters, buffers));
  }

  private static void addAll(Map<String, Tensor> all, Map<String, Tensor> more) {
    more.forEach((name, tensor) -> {
      if (all.put(name, tensor) != null) {
        throw new TandemInvalidArgumentException(
            "ScriptModule.trace", "two of the modules have a tensor '" + name + "'; give one module that holds both");
      }
    });
  }

  /**
   * Calls a method. Arguments are null, Boolean, Long, Integer, Double, Float, String, {@link Tensor}, {@link
   * org.tandem.DType}, {@link org.tandem.Device}, {@link org.tandem.Tuple}, and for lists and dicts collections,
   * arrays and maps, at any depth; they become what the method's schema wants. Those left out at the end have its
   * defaults. It gives the same kinds: Long and Double, {@code List<Object>}, Tuple, and {@code Map<Object, Object>}.
   *
   * @throws org.tandem.TandemNotFoundException there is no such method
   * @throws org.tandem.TandemInvalidArgumentException arguments do not fit the schema, which is shown, or the method raised something
   */
  public Object call(String method, Object... arguments) {
    String operation = TYPE + "." + method;
    Object[] result = new Object[1];
    Values.giveAll(operation, arguments, given -> {
      try (NativeResults value = TandemNative.jitCall(open(), method, given)) {
        result[0] = Values.take(operation, value);
      }
    });
    return result[0];
  }

  /** What {@link org.tandem.rpc.Rpc#register(String, ScriptModule)} does. */
  public void registerFor(String name) { TandemNative.rpcRegisterModule(name, open()); }

  /** The names of its methods, sorted. */
  public String[] methods() { return TandemNative.jitMethods(open()); }

  /** What a method takes and gives: {@code forward(x: Tensor, by: int = 1) -> Tensor}. */
  public String schema(String method) { return TandemNative.jitSchema(open(), method); }

  /**
   * Writes what torch.jit.load reads in Python, and {@link #loadScript(Path)} here. The file appears under its name only when it
   * is complete.
   */
  public void saveScript(Path path) { TandemNative.jitSave(open(), path.toString()); }

  /** What {@link #saveScript} would write. */
  public byte[] toBytes() { return TandemNative.jitSaveBytes(open()); }
}
