package modelparallel;

import java.nio.file.Path;
import java.util.List;
import org.tandem.Device;
import org.tandem.Scope;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.data.Loader;
import org.tandem.data.Mnist;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.Launch;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.nn.Functional;
import org.tandem.optim.SGD;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Trains a network whose layers lie on two devices of each process. */
@Command(name = "modelparallel-java", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Trains a network that is cut in two on MNIST: modelparallel-java --data DIR --devices cuda:0,cpu")
public final class Main implements Runnable {
  private static final double MOMENTUM = 0.9;

  @Option(names = "--data", required = true, paramLabel = "DIR", description = "folder with MNIST's IDX files, plain or .gz")
  private Path data;

  @Option(names = "--devices", split = ",", defaultValue = "cpu,cpu",
      description = "of the convolutions and of the linear layers, such as cuda:0,cpu; default: ${DEFAULT-VALUE}")
  private List<String> devices;

  @Option(names = "--epochs", defaultValue = "3", description = "default: ${DEFAULT-VALUE}")
  private int epochs;

  @Option(names = "--batch-size", defaultValue = "64", description = "of each rank; default: ${DEFAULT-VALUE}")
  private long batchSize;

  @Option(names = "--lr", defaultValue = "0.05", description = "learning rate; default: ${DEFAULT-VALUE}")
  private double learningRate;

  @Option(names = "--seed", defaultValue = "1", description = "default: ${DEFAULT-VALUE}")
  private long seed;

  @Option(names = "--output", defaultValue = ".", paramLabel = "DIR", description = "folder for converted digits")
  private Path output;

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

  /** GPUs' numbers are those of a host's first process; each further one takes as many more, and begins anew where the host has no more. */
  private static List<Device> parse(List<String> names) {
    List<Device> given = names.stream().map(Device::parse).toList();
    int perProcess = 0;
    for (Device device : given) {
      if (device.type() == Device.Type.CUDA) {
        perProcess = Math.max(perProcess, Math.max(device.index(), 0) + 1);
      }
    }
    if (perProcess == 0) {
      return given;
    }
    int count = Tandem.cudaDeviceCount();
    if (perProcess > count) {
      throw new TandemInvalidArgumentException("modelparallel",
          "--devices takes " + perProcess + " GPUs, this host has " + count);
    }
    int first = Launch.localRank() * perProcess;
    return given.stream().map(device -> device.type() == Device.Type.CUDA
        ? Device.cuda((Math.max(device.index(), 0) + first) % count) : device).toList();
  }

  private void train() throws Exception {
    if (devices.size() != 2) {
      throw new TandemInvalidArgumentException("modelparallel",
          "--devices is " + String.join(",", devices) + "; give two, such as cpu,cpu or cuda:0,cpu");
    }
    List<Device> placed = parse(devices);
    Tandem.manualSeed(seed);
    try (ProcessGroup group = connect(); Net net = new Net(placed.get(0), placed.get(1))) {
      Digits digits = Digits.prepare(data, output.resolve("recordio"), group);
      // Over parameters of both devices.
      try (DistributedDataParallel ddp = new DistributedDataParallel(net, group);
          SGD optimizer = new SGD(net.parameters(), learningRate, new SGD.Options().momentum(MOMENTUM));
          Loader loader = new Loader(List.of(digits.train()), Mnist.fields(),
              new Loader.Options().batchSize(batchSize).rank(group.rank(), group.size()).seed(seed).dropLast(true));
          Loader tests = digits.tests()) {
        for (int epoch = 0; epoch < epochs; epoch++) {
          double loss = trainEpoch(epoch, ddp, optimizer, loader);
          double accuracy = 100 * accuracy(net, tests);
          if (group.rank() == 0) {
            System.out.printf("epoch %d/%d: loss %.3f, test accuracy %.2f %%%n", epoch + 1, epochs, loss, accuracy);
          }
        }
      }
      if (group.rank() == 0) {
        net.namedParameters().forEach((name, parameter) ->
            System.out.printf("%s: on %s, its gradient on %s%n", name, parameter.device(), parameter.grad().device()));
      }
    }
  }

  /** With the ranks that a launcher started, or alone. Of the backends, gloo exchanges gradients on GPUs and on the CPU alike. */
  private static ProcessGroup connect() {
    ProcessGroup.Options options = new ProcessGroup.Options().backend("gloo");
    if (!Launch.launcher().isEmpty()) {
      return ProcessGroup.init(options);
    }
    try (Store store = Store.hash()) {
      return ProcessGroup.init(options.store(store).rank(0).worldSize(1));
    }
  }

  /** The mean loss of this rank. */
  private static double trainEpoch(int epoch, DistributedDataParallel ddp, SGD optimizer, Loader loader) {
    double sum = 0;
    for (Loader.Batch batch : loader.epoch(epoch)) {
      try (batch; Scope scope = Scope.open()) {
        Tensor scores = ddp.forward(batch.get(1));
        Tensor loss = Functional.crossEntropy(scores, batch.get(0).to(scores.device()));
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        sum += loss.item();
      }
    }
    return sum / Math.max(1, loader.batchCount());
  }

  private static double accuracy(Net net, Loader tests) {
    long right = 0;
    for (Loader.Batch batch : tests.epoch(0)) {
      try (batch; Scope scope = Scope.open()) {
        Tensor told = Tandem.noGrad(() -> net.forward(batch.get(1)).argmax(1).to(Device.CPU));
        right += told.eq(batch.get(0)).sum().itemLong();
      }
    }
    return (double) right / Math.max(1, tests.sampleCount());
  }
}
