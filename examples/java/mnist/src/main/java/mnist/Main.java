package mnist;

import java.nio.file.Path;
import org.tandem.Device;
import org.tandem.Tandem;
import org.tandem.dist.Launch;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.elastic.Elastic;
import org.tandem.elastic.Job;
import org.tandem.elastic.Place;
import org.tandem.elastic.State;
import org.tandem.optim.SGD;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Recognises handwritten digits; trained on as many processes as {@code tandem run -n N} starts. */
@Command(name = "mnist-java", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Trains a convolutional network on MNIST: tandem run -n 2 mnist-java --data DIR")
public final class Main implements Runnable {
  private static final int CHECKPOINT_STEPS = 100;

  @Option(names = "--data", required = true, paramLabel = "DIR",
      description = "folder with MNIST's IDX files (plain or .gz), or train.recordio and test.recordio")
  private Path data;

  @Option(names = "--epochs", defaultValue = "5", description = "default: ${DEFAULT-VALUE}")
  private int epochs;

  @Option(names = "--batch-size", defaultValue = "64",
      description = "per rank, with --elastic of all ranks together; default: ${DEFAULT-VALUE}")
  private long batchSize;

  @Option(names = "--lr", defaultValue = "0.05",
      description = "learning rate; each epoch takes 0.7 of the one before; default: ${DEFAULT-VALUE}")
  private double learningRate;

  @Option(names = "--backend", description = "gloo, nccl or none; default: gloo, nccl with --device cuda")
  private String backend;

  @Option(names = "--device", defaultValue = "cpu", description = "cpu or cuda; default: ${DEFAULT-VALUE}")
  private Tandem.LoadDevice device;

  @Option(names = "--checkpoints", paramLabel = "DIR",
      description = "folder for a checkpoint after each epoch, with --elastic every 100 steps; goes on from the newest one in it")
  private Path checkpoints;

  @Option(names = "--elastic", description = "goes on where processes are lost, join or leave")
  private boolean elastic;

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
    String chosen = backend != null ? backend : cuda ? "nccl" : "gloo";
    Tandem.manualSeed(seed + Launch.rank()); // dropout differs between ranks; parameters come from rank 0
    try (Net net = new Net()) {
      net.to(here);
      try (SGD optimizer = new SGD(net.parameters(), learningRate, new SGD.Options().momentum(Training.MOMENTUM))) {
        if (elastic) {
          trainElastically(here, chosen, net, optimizer);
        } else {
          try (ProcessGroup group = connect(new ProcessGroup.Options().backend(chosen).device(here));
              Training training = training(group, here, net, optimizer, Digits.prepare(data, output, group, false), null)) {
            if (checkpoints != null) {
              training.keepIn(checkpoints);
            }
            finish(training);
          }
        }
      }
    }
  }

  /** With the ranks that a launcher started, or alone. */
  private static ProcessGroup connect(ProcessGroup.Options options) {
    if (!Launch.launcher().isEmpty()) {
      return ProcessGroup.init(options);
    }
    try (Store store = Store.hash()) {
      return ProcessGroup.init(options.store(store).rank(0).worldSize(1));
    }
  }

  /** Begins again from the last commit, with the ranks that are left, whenever one is lost; see {@link Elastic}. */
  private void trainElastically(Device here, String chosen, Net net, SGD optimizer) throws Exception {
    Place place = new Place(); // in the digits
    State state = new State().module("model", net).optimizer("optimizer", optimizer).place("data", place);
    Elastic.Options options = new Elastic.Options().backend(chosen).device(here).seed(seed).leaveOnSignal(true);
    if (checkpoints != null) {
      options.checkpoints(checkpoints).checkpointEvery(CHECKPOINT_STEPS);
    }
    Elastic.run(state, job -> {
      Digits digits = Digits.prepare(data, output, job.group(), job.steps() > 0);
      try (Training training = training(job.group(), here, net, optimizer, digits, job)) {
        training.goOn(place);
        finish(training);
      }
    }, options);
  }

  private Training training(ProcessGroup group, Device here, Net net, SGD optimizer, Digits digits, Job job) {
    return new Training(group, here, net, optimizer, digits, batchSize, learningRate, seed, job);
  }

  private void finish(Training training) throws Exception {
    training.run(epochs);
    training.pictures(output);
    if (!training.parametersAgree()) {
      System.exit(1);
    }
  }
}
