package pipeline;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.tandem.Scope;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.dist.DeviceMesh;
import org.tandem.dist.Launch;
import org.tandem.dist.Pipeline;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.optim.AdamW;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Trains a small transformer of bytes that is cut into stages, each on a rank of its own, on a text; with more ranks than
 * stages, several such pipelines train data-parallel: {@code tandem run -n 4 -- pipeline-java --data FILE --stages 2} are two
 * pipelines of two stages.
 */
@Command(name = "pipeline-java", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Trains a transformer that is cut into stages: tandem run -n 4 -- pipeline-java --data FILE --stages 2")
public final class Main implements Runnable {
  private static final Tensor[] NONE = {};

  @Option(names = "--data", required = true, paramLabel = "FILE", description = "file with a text")
  private Path data;

  @Option(names = "--stages", defaultValue = "2",
      description = "that the model is cut into; the number of ranks is a multiple of it; default: ${DEFAULT-VALUE}")
  private int stages;

  @Option(names = "--schedule", defaultValue = "1f1b",
      description = "of forwards and backwards, 1f1b or gpipe; default: ${DEFAULT-VALUE}")
  private String schedule;

  @Option(names = "--micro-batches", defaultValue = "4",
      description = "that a pipeline's batch is cut into; default: ${DEFAULT-VALUE}")
  private int microBatches;

  @Option(names = "--layers", defaultValue = "4", description = "blocks of the model; default: ${DEFAULT-VALUE}")
  private int layers;

  @Option(names = "--heads", defaultValue = "4", description = "of attention; default: ${DEFAULT-VALUE}")
  private int heads;

  @Option(names = "--width", defaultValue = "64",
      description = "of the residual stream, a multiple of --heads; default: ${DEFAULT-VALUE}")
  private int width;

  @Option(names = "--length", defaultValue = "64", description = "bytes that the model sees; default: ${DEFAULT-VALUE}")
  private int length;

  @Option(names = "--batch-size", defaultValue = "32", description = "of all pipelines together; default: ${DEFAULT-VALUE}")
  private int batchSize;

  @Option(names = "--steps", defaultValue = "400", description = "of the optimizer; default: ${DEFAULT-VALUE}")
  private int steps;

  @Option(names = "--every", defaultValue = "50", description = "steps from one report to the next; default: ${DEFAULT-VALUE}")
  private int every;

  @Option(names = "--lr", defaultValue = "0.002", description = "learning rate; default: ${DEFAULT-VALUE}")
  private double learningRate;

  @Option(names = "--seed", defaultValue = "1", description = "of all random numbers; default: ${DEFAULT-VALUE}")
  private long seed;

  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new Main());
    line.setParameterExceptionHandler((error, ignored) -> {
      System.err.println("error: " + error.getMessage() + " (see --help)");
      return 1;
    });
    int code = line.execute(arguments);
    if (code != 0) {
      System.exit(code);
    }
  }

  @Override
  public void run() {
    Launch.run(this::train);
  }

  private static TandemInvalidArgumentException refuse(String why) {
    return new TandemInvalidArgumentException("pipeline", why);
  }

  private void check(int ranks, byte[] text) {
    for (int number : new int[] {stages, microBatches, layers, heads, width, length, batchSize, steps, every}) {
      if (number < 1) {
        throw refuse("numbers must be above 0");
      }
    }
    if (width % heads != 0) {
      throw refuse("--width is " + width + "; give a multiple of --heads " + heads);
    }
    if (ranks % stages != 0) {
      throw refuse(ranks + " ranks are not pipelines of --stages " + stages + "; start a multiple of it: tandem run -n "
          + 2 * stages);
    }
    if (stages > layers) {
      throw refuse("--stages is " + stages + ", for --layers " + layers + "; a stage needs a block");
    }
    if (batchSize % (ranks / stages) != 0) {
      throw refuse("--batch-size " + batchSize + " does not divide among " + ranks / stages + " pipelines");
    }
    if (text.length <= length) {
      throw refuse(data + " has " + text.length + " bytes; a window takes " + (length + 1));
    }
  }

  private void train() throws Exception {
    byte[] text = Files.readAllBytes(data);
    try (ProcessGroup world = connect()) {
      check(world.size(), text);
      int replicas = world.size() / stages;
      // Neighbours by rank are one pipeline. The ranks of one stage are a group of the dimension dp.
      try (DeviceMesh mesh = new DeviceMesh(world, new long[] {replicas, stages}, "dp", "pp");
          Stage stage = new Stage(mesh.localRank("pp"), stages, new Stage.Shape(layers, heads, width, length), seed);
          Pipeline pipeline = new Pipeline(mesh, "pp", List.of(stage.piece()),
              new Pipeline.Options().schedule(schedule).microBatches(microBatches).loss(Stage::loss));
          AdamW optimizer = new AdamW(stage.parameters(), learningRate)) {
        Random random = new Random(seed); // the same windows on all ranks, of which each pipeline takes its part
        double total = 0;
        for (int step = 1; step <= steps; step++) {
          try (Scope scope = Scope.open()) {
            Tensor windows = windows(text, random, mesh.localRank("dp"), replicas);
            Tensor[] inputs = stage.isFirst() ? new Tensor[] {windows.narrow(1, 0, length)} : NONE;
            Tensor[] targets = stage.isLast() ? new Tensor[] {windows.narrow(1, 1, length)} : NONE;
            optimizer.zeroGrad();
            total += pipeline.step(inputs, targets); // the same on all ranks
            optimizer.step();
          }
          if (step % every == 0) {
            if (world.rank() == 0) {
              System.out.printf("step %d/%d: %.4f bits per character%n", step, steps, total / every / Math.log(2));
            }
            total = 0;
          }
        }
      }
    }
  }

  /** With the ranks that a launcher started, or alone. */
  private static ProcessGroup connect() {
    ProcessGroup.Options options = new ProcessGroup.Options().backend("auto");
    if (!Launch.launcher().isEmpty()) {
      return ProcessGroup.init(options);
    }
    try (Store store = Store.hash()) {
      return ProcessGroup.init(options.store(store).rank(0).worldSize(1));
    }
  }

  /** A batch of the text, of which it gives one replica's rows [rows, length + 1]. */
  private Tensor windows(byte[] text, Random random, int replica, int replicas) {
    int rows = batchSize / replicas;
    long[] bytes = new long[rows * (length + 1)];
    for (int row = 0; row < batchSize; row++) {
      int begin = random.nextInt(text.length - length);
      for (int i = 0; i <= length && row / rows == replica; i++) {
        bytes[row % rows * (length + 1) + i] = text[begin + i] & 0xFF;
      }
    }
    return Tensor.of(bytes, rows, length + 1L);
  }
}
