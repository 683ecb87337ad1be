package mnist;

import java.nio.file.Path;
import org.tandem.Device;
import org.tandem.Tandem;
import org.tandem.dist.Launch;
import org.tandem.dist.ProcessGroup;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Recognises handwritten digits; trained on as many processes as {@code tandem run -n N} starts. */
@Command(name = "mnist-java", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Trains a convolutional network on MNIST: tandem run -n 2 mnist-java --data DIR")
public final class Main implements Runnable {
  @Option(names = "--data", required = true, paramLabel = "DIR",
      description = "folder with MNIST's IDX files (plain or .gz), or train.recordio and test.recordio")
  private Path data;

  @Option(names = "--epochs", defaultValue = "5", description = "default: ${DEFAULT-VALUE}")
  private int epochs;

  @Option(names = "--batch-size", defaultValue = "64", description = "per rank; default: ${DEFAULT-VALUE}")
  private long batchSize;

  @Option(names = "--lr", defaultValue = "0.05",
      description = "learning rate; each epoch takes 0.7 of the one before; default: ${DEFAULT-VALUE}")
  private double learningRate;

  @Option(names = "--backend", description = "gloo, nccl or none; default: gloo, nccl with --device cuda")
  private String backend;

  @Option(names = "--device", defaultValue = "cpu", description = "cpu or cuda; default: ${DEFAULT-VALUE}")
  private Tandem.LoadDevice device;

  @Option(names = "--checkpoints", paramLabel = "DIR",
      description = "folder for a checkpoint after each epoch; goes on from the newest one in it")
  private Path checkpoints;

  @Option(names = "--seed", defaultValue = "1", description = "default: ${DEFAULT-VALUE}")
  private long seed;

  @Option(names = "--output", defaultValue = ".", paramLabel = "DIR",
      description = "where pictures and converted digits go; default: the working directory")
  private Path output;

  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true);
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

  private void train() throws Exception {
    boolean cuda = device == Tandem.LoadDevice.CUDA;
    Tandem.load("", device);
    Device here = cuda ? Device.cuda(Launch.localRank()) : Device.CPU;
    ProcessGroup.Options options =
        new ProcessGroup.Options().backend(backend != null ? backend : cuda ? "nccl" : "gloo").device(here);
    try (ProcessGroup group = ProcessGroup.init(options)) {
      Digits digits = Digits.prepare(data, output, group);
      try (Training training = new Training(group, here, digits, batchSize, learningRate, seed)) {
        if (checkpoints != null) {
          training.keepIn(checkpoints);
        }
        training.run(epochs);
        training.pictures(output);
        if (!training.parametersAgree()) {
          System.exit(1);
        }
      }
    }
  }
}
