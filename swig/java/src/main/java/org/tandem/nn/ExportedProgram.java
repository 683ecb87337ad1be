package org.tandem.nn;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeModule;
import org.tandem.internal.NativeResults;
import org.tandem.internal.TandemNative;
import org.tandem.internal.Values;

/**
 * A model that Python exported with torch.export: it runs, trains and is saved without Python. It is a module as all others
 * are: its parameters and buffers have Python's names, so that optimizers, DistributedDataParallel, state dicts, checkpoints and to
 * work with it. {@link #forward} and {@link #forwardAll} take and give tensors, {@link #call} any values.
 *
 * <p>It has the modes that it was exported in: {@code train(on)} throws {@link org.tandem.TandemUnsupportedException} for one that it
 * does not have. Several threads may call it, as long as nobody trains it, moves it or loads its state. Source:
 * torch.export.ExportedProgram.
 */
public final class ExportedProgram extends LoadedModule {
  private static final String TYPE = "ExportedProgram";

  private ExportedProgram(NativeModule handle) {
    super(TYPE, handle);
  }

  /** What {@link #loadProgram(Path, Options)} takes beside an archive. */
  public static final class Options {
    private String otherMode = "";
    private String compiled = "";

    /**
     * Another archive of the same model, exported after {@code model.eval()} where the first one trains, or the other way round:
     * {@code train(on)} changes between the two, which share the parameters and buffers of the first.
     */
    public Options otherMode(Path path) {
      otherMode = path.toString();
      return this;
    }

    /**
     * A package that AOTInductor compiled from the program for inference on the CPU, in Python: {@code
     * torch._inductor.aoti_compile_and_package(program, package_path="compiled.pt2", inductor_configs=…)}, with the settings of
     * docs/exported-models.md.
     *
     * <p>It is machine code, which loading runs: take it only from whom you trust. Calls run it, with the program's own parameters
     * and buffers, where it gives what the graph does: under no-grad or inference mode, or where nothing that the program reads
     * requires gradients; in the mode that was compiled, which is that of evaluation where it may be of both; and without autocast.
     * All other calls run the graph. As many calls run it at once as there are processors, others wait.
     */
    public Options compiled(Path path) {
      compiled = path.toString();
      return this;
    }
  }

  /**
   * An archive of torch.export.save, of PyTorch 2.8 or later. Weights are mapped: what training writes to them changes no file.
   *
   * @throws org.tandem.TandemNotFoundException there is no such file
   * @throws org.tandem.TandemDataLossException it is damaged, or contradicts itself
   * @throws org.tandem.TandemUnsupportedException it needs an operator that this LibTorch lacks, or containers other than tuples,
   *     lists, dicts and named tuples
   */
  public static ExportedProgram loadProgram(Path path) {
    return loadProgram(path, new Options());
  }

  /**
   * The same with its other mode, or compiled.
   *
   * @throws org.tandem.TandemInvalidArgumentException the options are of another model
   * @throws org.tandem.TandemUnsupportedException the package is for another device or processor
   */
  public static ExportedProgram loadProgram(Path path, Options options) {
    NativeLibrary.load();
    return new ExportedProgram(TandemNative.exportedLoad(path.toString(), options.otherMode, options.compiled));
  }

  /**
   * Runs the program on what the Python module took: null, Boolean, Long, Integer, Double, Float, String,
   * {@link org.tandem.Tensor}, {@link org.tandem.Tuple}, and for lists and dicts collections, arrays and maps, at any depth; keyword
   * arguments follow the others in the program's order. It gives the same kinds, as the Python module did.
   *
   * @throws org.tandem.TandemInvalidArgumentException inputs are of another structure, shape or dtype, or outside of the ranges of
   *     dynamic sizes, which are named; or an operator refuses them, whose node is named
   */
  public Object call(Object... arguments) {
    Object[] result = new Object[1];
    Values.giveAll(TYPE, arguments, given -> {
      try (NativeResults value = TandemNative.exportedCall(open(), given)) {
        result[0] = Values.take(TYPE, value);
      }
    });
    return result[0];
  }

  /** The names of its inputs, in the order of {@link #call}'s arguments, and of each what it must be: {@code Float[s0, 3]}. */
  public Map<String, String> inputs() {
    String[] all = TandemNative.exportedInputs(open());
    Map<String, String> inputs = new LinkedHashMap<>();
    for (int i = 0; i < all.length / 2; ++i) {
      inputs.put(all[i], all[all.length / 2 + i]);
    }
    return inputs;
  }

  /** A part of a program: {@link #forwardAll} takes the tensors that the part before gives, and gives what the next one takes. */
  public static final class Part extends LoadedModule {
    private Part(NativeModule handle) {
      super("ExportedProgramPart", handle);
    }
  }

  /**
   * The program in parts that run one after the other, as layers of a pipeline do ({@link org.tandem.dist.PipelineSplit}): at
   * least so many, or as many as there are. It is cut where the fewest values cross. The first part takes what the program takes;
   * each has the parameters and buffers that it reads, shared with the program, and nothing of it else: what no part that is
   * left reads is freed with the program.
   *
   * @throws org.tandem.TandemUnsupportedException it has two modes, or changes its inputs
   */
  public List<Part> parts(int least) {
    return Arrays.stream(TandemNative.exportedParts(open(), least)).map(Part::new).toList();
  }

  /**
   * Writes an archive with the present parameters and buffers that torch.export.load opens in Python. It appears under its name
   * only when it is complete.
   *
   * @throws org.tandem.TandemUnsupportedException its dtype was changed, which the graph does not know
   */
  public void saveProgram(Path path) { TandemNative.exportedSave(open(), path.toString()); }
}
