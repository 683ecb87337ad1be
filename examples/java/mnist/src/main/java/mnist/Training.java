package mnist;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.tandem.Device;
import org.tandem.Scope;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.data.Loader;
import org.tandem.data.Mnist;
import org.tandem.data.RecordIOReader;
import org.tandem.dist.CheckpointFolder;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.ReduceOp;
import org.tandem.elastic.Job;
import org.tandem.elastic.Place;
import org.tandem.nn.Functional;
import org.tandem.optim.SGD;

/** Trains the network on all ranks of a group; rank 0 also reports. */
final class Training implements AutoCloseable {
  static final double MOMENTUM = 0.9;
  private static final double DECAY = 0.7; // of the learning rate, each epoch
  private static final int SHOWN_DIGITS = 50;
  private static final int TEST_BATCH = 250;
  private static final int KEPT_CHECKPOINTS = 3;
  private static final int BAR_WIDTH = 110;
  private static final int BAR_UPDATE_MILLIS = 500;

  private final ProcessGroup group;
  private final Device device;
  private final double learningRate;
  private final Net net;
  private final DistributedDataParallel ddp;
  private final SGD optimizer;
  private final Loader loader;
  private final RecordIOReader test;
  private final Job job; // null: the ranks stay the same
  private final List<Double> epochs = new ArrayList<>();
  private final List<Double> losses = new ArrayList<>();
  private final List<Double> accuracies = new ArrayList<>();
  private int finishedEpochs;
  private CheckpointFolder checkpoints; // null: none

  Training(ProcessGroup group, Device device, Net net, SGD optimizer, Digits digits, long batchSize, double learningRate,
      long seed, Job job) {
    this.group = group;
    this.device = device;
    this.net = net;
    this.optimizer = optimizer;
    this.learningRate = learningRate;
    this.job = job;
    loader = new Loader(List.of(digits.train()), Mnist.fields(), new Loader.Options().batchSize(batchSize)
        .globalBatch(job != null).rank(group.rank(), group.size()).seed(seed).dropLast(true));
    try {
      if (loader.batchCount() == 0) {
        throw new TandemInvalidArgumentException("mnist", digits.train() + " holds "
            + loader.sampleCount() + " samples, too few for one batch of " + batchSize + " on each of " + group.size()
            + " ranks; lower --batch-size");
      }
      test = new RecordIOReader(digits.test());
    } catch (RuntimeException failed) {
      loader.close();
      throw failed;
    }
    try {
      ddp = new DistributedDataParallel(net, group, new DistributedDataParallel.Options().gradientAsBucketView(true));
    } catch (RuntimeException failed) { // as where a rank is lost meanwhile
      test.close();
      loader.close();
      throw failed;
    }
  }

  private boolean reports() {
    return group.rank() == 0;
  }

  /** In the digits, where an elastic training stands. */
  void goOn(Place place) {
    place.follow(loader);
    finishedEpochs = (int) loader.currentEpoch();
  }

  void run(int wanted) {
    while (finishedEpochs < wanted) {
      double loss = trainEpoch(finishedEpochs, wanted);
      double accuracy = 100 * testAccuracy();
      finishedEpochs++;
      if (reports()) {
        System.out.printf("epoch %d/%d: loss %.3f, test accuracy %.2f %%%n", finishedEpochs, wanted, loss, accuracy);
        epochs.add((double) finishedEpochs);
        losses.add(loss);
        accuracies.add(accuracy);
      }
      if (checkpoints != null) {
        save();
      }
    }
    if (checkpoints != null) {
      checkpoints.await();
    }
  }

  /** Mean loss over all ranks. {@code epoch} counts from 0. */
  private double trainEpoch(int epoch, int wanted) {
    ddp.train();
    optimizer.setLearningRate(learningRate * Math.pow(DECAY, epoch));
    double sum = 0;
    long batches = 0;
    long samples = 0;
    long begin = System.nanoTime();
    try (ProgressBar bar = reports() ? bar(epoch, wanted) : null) {
      for (Loader.Batch batch : loader.epoch(epoch)) {
        try (batch; Scope scope = Scope.open()) {
          Tensor output = ddp.forward(batch.get(1).to(device));
          Tensor loss = Functional.crossEntropy(output, batch.get(0).to(device));
          optimizer.zeroGrad();
          loss.backward();
          optimizer.step();
          double value = loss.item();
          sum += value;
          batches++;
          samples += batch.globalCount();
          if (bar != null) {
            double seconds = (System.nanoTime() - begin) / 1e9;
            bar.setExtraMessage(String.format("loss %.3f, %.0f samples/s", value, samples / seconds));
            bar.step();
          }
          loader.commit();
          if (job != null) {
            job.describe(String.format("loss %.3f", value));
            job.step();
          }
        }
      }
    }
    try (Tensor mean = Tensor.of(new double[] {sum / Math.max(batches, 1)}).to(device)) {
      group.allReduce(mean, ReduceOp.SUM);
      return mean.item() / group.size();
    }
  }

  /** With loss, samples/s and the time left. */
  private ProgressBar bar(int epoch, int wanted) {
    return new ProgressBarBuilder()
        .setTaskName("epoch " + (epoch + 1) + "/" + wanted)
        .setInitialMax(loader.batchCount())
        .setStyle(ProgressBarStyle.ASCII)
        .setUpdateIntervalMillis(BAR_UPDATE_MILLIS)
        .setConsumer(new ConsoleProgressBarConsumer(System.err, BAR_WIDTH))
        .build();
  }

  /** Each rank takes its part of the test digits; the right ones are added up. */
  private double testAccuracy() {
    ddp.eval();
    long right = 0;
    for (long[] numbers : Digits.slices(test, group.rank(), group.size(), TEST_BATCH)) {
      try (Scope scope = Scope.open()) {
        Digits.Batch batch = Digits.read(test, numbers);
        right += predict(batch.images()).eq(batch.labels()).sum().itemLong();
      }
    }
    try (Tensor total = Tensor.of(new long[] {right}).to(device)) {
      group.allReduce(total);
      return (double) total.itemLong() / test.count();
    }
  }

  private Tensor predict(Tensor images) {
    return Tandem.noGrad(() -> net.forward(images.to(device)).argmax(1).to(Device.CPU));
  }

  void pictures(Path folder) throws IOException {
    if (!reports() || epochs.isEmpty()) {
      return;
    }
    Files.createDirectories(folder);
    Pictures.curve(folder.resolve("curve.png"), epochs, losses, accuracies);
    long[] numbers = LongStream.range(0, Math.min(SHOWN_DIGITS, test.count())).toArray();
    List<byte[]> records = LongStream.of(numbers).mapToObj(test::get).toList();
    ddp.eval();
    try (Scope scope = Scope.open()) {
      Pictures.digits(
          folder.resolve("digits.png"), records, predict(Digits.read(test, numbers).images()).toLongArray());
    }
  }

  /** Prints the hash of the parameters; false when the ranks' hashes differ. */
  boolean parametersAgree() {
    long own = hash();
    try (Scope scope = Scope.open()) {
      List<Tensor> all = new ArrayList<>();
      for (int rank = 0; rank < group.size(); rank++) {
        all.add(Tensor.of(new long[] {0}).to(device));
      }
      group.allGather(all, Tensor.of(new long[] {own}).to(device));
      boolean equal = all.stream().allMatch(hash -> hash.itemLong() == own);
      if (reports() && equal) {
        System.out.printf("parameters: %016x, equal on all %d ranks%n", own, group.size());
      }
      if (!equal) {
        System.err.printf("parameters: %016x on rank %d, and others elsewhere%n", own, group.rank());
      }
      return equal;
    }
  }

  private long hash() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      net.namedParameters().values().forEach(parameter -> digest.update(parameter.toByteBuffer()));
      return ByteBuffer.wrap(digest.digest()).getLong();
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible); // every Java has SHA-256
    }
  }

  private void save() {
    try (Scope scope = Scope.open()) {
      checkpoints.saveAsync(finishedEpochs, new CheckpointFolder.Content()
          .add("model", net.stateDict())
          .add("optimizer", optimizer.state()));
    }
  }

  /** Saves there after each epoch, and goes on from the newest checkpoint that is there; every rank reads it. */
  void keepIn(Path folder) {
    checkpoints = new CheckpointFolder(folder, KEPT_CHECKPOINTS, group);
    try (Scope scope = Scope.open()) {
      checkpoints.load().ifPresent(last -> {
        if (reports()) {
          last.refused().forEach(why -> System.out.println("not used: " + why));
        }
        if (!last.values().equals("{}")) { // an elastic training's, whose step is no epoch
          throw new TandemInvalidArgumentException("mnist", folder
              + " has checkpoints of a training with --elastic; go on with that, or give --checkpoints another folder");
        }
        finishedEpochs = (int) last.step();
        net.loadStateDict(last.sections().get("model"));
        optimizer.loadState(last.sections().get("optimizer"));
      });
    }
  }

  @Override
  public void close() {
    if (checkpoints != null) {
      checkpoints.close();
    }
    test.close();
    loader.close();
    ddp.close();
  }
}
