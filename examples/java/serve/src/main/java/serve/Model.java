package serve;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.tandem.DType;
import org.tandem.Scope;
import org.tandem.Tandem;
import org.tandem.TandemException;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.TandemNotFoundException;
import org.tandem.Tensor;
import org.tandem.dist.CheckpointFolder;
import org.tandem.nn.ExportedProgram;

/** A program that takes one tensor [rows, …] and gives one [rows, …]. One thread computes. */
final class Model {
  // What ExportedProgram.inputs() says of a tensor whose first size alone may vary.
  private static final Pattern INPUT = Pattern.compile("(\\w+)\\[[^,]+((?:, \\d+)*)\\]");
  private static final Map<String, DType> TYPES = Map.of("Float", DType.FLOAT32, "Double", DType.FLOAT64, "Long", DType.INT64);

  private final ExportedProgram program;
  private final DType type;
  private final int[] shape; // of a row
  private int least;
  private int most;

  private Model(ExportedProgram program, DType type, int[] shape) {
    this.program = program;
    this.type = type;
    this.shape = shape;
  }

  /** With the weights of a checkpoint where {@code checkpoints} is not null; it takes up to {@code mostRows} at once. */
  static Model load(Path path, Path checkpoints, int mostRows) {
    ExportedProgram program = ExportedProgram.loadProgram(path);
    program.eval();
    List<String> inputs = List.copyOf(program.inputs().values());
    Matcher found = INPUT.matcher(inputs.size() == 1 ? inputs.get(0) : "");
    if (!found.matches() || !TYPES.containsKey(found.group(1))) {
      throw new TandemInvalidArgumentException("serve", path + " takes " + program.inputs()
          + "; it must take one tensor of numbers, whose first size alone may vary");
    }
    int[] shape = Arrays.stream(found.group(2).split(", ")).skip(1).mapToInt(Integer::parseInt).toArray();
    Model model = new Model(program, TYPES.get(found.group(1)), shape);
    if (checkpoints != null) {
      model.loadWeights(checkpoints);
    }
    model.findRange(path, mostRows);
    return model;
  }

  private void loadWeights(Path path) {
    if (!Files.isDirectory(path)) {
      throw new TandemNotFoundException("serve", "there is no folder " + path);
    }
    try (CheckpointFolder folder = new CheckpointFolder(path); Scope scope = Scope.open()) {
      CheckpointFolder.Loaded last = folder.load(List.of("model"), List.of())
          .orElseThrow(() -> new TandemNotFoundException("serve", path + " has no checkpoint"));
      last.refused().forEach(why -> System.out.println("not used: " + why));
      program.loadStateDict(last.sections().get("model"));
      System.out.println("weights of checkpoint " + last.step());
    }
  }

  /** Tries zeros: what is outside of the range of rows that the program was exported for, it refuses at once. */
  private void findRange(Path path, int mostRows) {
    TandemException refused = null;
    for (most = mostRows; most > 0; most--) {
      TandemException error = refusal(most);
      if (error == null) {
        break;
      }
      refused = refused == null ? error : refused;
    }
    if (most == 0) {
      throw new TandemInvalidArgumentException("serve",
          path + " refuses 1 to " + mostRows + " rows, each " + row() + ": " + refused.getMessage());
    }
    least = 1;
    while (least < most && refusal(least) != null) {
      least++;
    }
  }

  private TandemException refusal(int rows) {
    try {
      predict(List.of(new Rows(rows, new double[rows * numbers()])));
      return null;
    } catch (TandemException error) {
      return error;
    }
  }

  /** "float32 [3, 32, 32]", of one. */
  String row() {
    return type.name().toLowerCase(java.util.Locale.ROOT) + " " + Arrays.toString(shape);
  }

  int[] shape() {
    return shape;
  }

  int most() {
    return most;
  }

  private int numbers() {
    return Arrays.stream(shape).reduce(1, (a, b) -> a * b);
  }

  /** Computes the rows of requests as one batch, filled up with zeros where they are too few: each request's results in JSON. */
  List<String> predict(List<Rows> requests) {
    try (Tandem.NoGrad off = Tandem.noGrad(); Scope scope = Scope.open()) {
      int count = Math.max(least, requests.stream().mapToInt(Rows::count).sum());
      double[] all = new double[count * numbers()];
      int at = 0;
      for (Rows rows : requests) {
        System.arraycopy(rows.numbers(), 0, all, at, rows.numbers().length);
        at += rows.numbers().length;
      }
      long[] sizes = new long[shape.length + 1];
      sizes[0] = count;
      for (int i = 0; i < shape.length; i++) {
        sizes[i + 1] = shape[i];
      }
      Tensor[] given = program.forwardAll(Tensor.of(all, sizes).to(type));
      if (given.length != 1) {
        throw new TandemInvalidArgumentException("serve", "the program gives " + given.length + " results, and not one tensor");
      }
      Tensor results = given[0];
      if (results.dim() == 0 || results.size(0) != count) {
        throw new TandemInvalidArgumentException("serve", "the program gives " + Arrays.toString(results.sizes()) + " for " + count
            + " rows, and not a result for each");
      }
      List<String> texts = new ArrayList<>();
      int begin = 0;
      for (Rows rows : requests) {
        texts.add(Json.write(results.narrow(0, begin, rows.count())));
        begin += rows.count();
      }
      return texts;
    }
  }
}
