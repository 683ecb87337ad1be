package finetune;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tandem.Device;
import org.tandem.Scope;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.data.Loader;
import org.tandem.dist.CheckpointFolder;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.ReduceOp;
import org.tandem.nn.ExportedProgram;
import org.tandem.nn.Functional;
import org.tandem.optim.SGD;

/** Trains the program on all ranks of a group; rank 0 also reports. */
final class Training implements AutoCloseable {
  private static final double MOMENTUM = 0.9;
  private static final int KEPT_CHECKPOINTS = 3;

  private final ExportedProgram program;
  private final ProcessGroup group;
  private final Device device;
  private final double learningRate;
  private final long seed;
  private final Loader train;
  private final Loader test;
  private final DistributedDataParallel ddp;
  private final SGD optimizer;
  private int finishedEpochs;
  private CheckpointFolder checkpoints; // null: none

  Training(ExportedProgram program, Pictures pictures, ProcessGroup group, Device device, String frozen, long batchSize,
      double learningRate, long seed) {
    this.program = program;
    this.group = group;
    this.device = device;
    this.learningRate = learningRate;
    this.seed = seed;
    List<Tensor> trained = freeze(program, frozen);
    train = pictures.train(group, batchSize, seed);
    test = pictures.test(group, batchSize);
    if (train.batchCount() == 0) {
      throw new TandemInvalidArgumentException("finetune", "the " + train.sampleCount() + " training pictures do not fill one "
          + "batch of " + batchSize + " for each of " + group.size() + " ranks; choose a smaller --batch-size");
    }
    ddp = new DistributedDataParallel(
        program, group, new DistributedDataParallel.Options().gradientAsBucketView(true));
    optimizer = new SGD(trained, learningRate, new SGD.Options().momentum(MOMENTUM));
  }

  /** Keeps parameters as they are whose names begin with {@code prefix}, if there is one, and gives the others. */
  private static List<Tensor> freeze(ExportedProgram program, String prefix) {
    List<Tensor> trained = new ArrayList<>();
    Map<String, Tensor> all = program.namedParameters();
    all.forEach((name, parameter) -> {
      if (!prefix.isEmpty() && name.startsWith(prefix)) {
        parameter.requiresGrad(false);
      } else {
        trained.add(parameter);
      }
    });
    if (trained.isEmpty()) {
      throw new TandemInvalidArgumentException("finetune", "--freeze '" + prefix + "' leaves no parameter to train");
    }
    if (!prefix.isEmpty() && trained.size() == all.size()) {
      throw new TandemInvalidArgumentException("finetune", "--freeze '" + prefix + "': no parameter's name begins so; the first is "
          + all.keySet().iterator().next());
    }
    return trained;
  }

  private boolean reports() {
    return group.rank() == 0;
  }

  void run(int wanted, boolean tested) {
    while (finishedEpochs < wanted) {
      // Epochs draw from seeds of their own, so that a run that goes on draws what one does that never stopped; ranks differ.
      Tandem.manualSeed(seed + ((long) finishedEpochs * group.size()) + group.rank());
      optimizer.setLearningRate(learningRate * (1 + Math.cos(Math.PI * finishedEpochs / wanted)) / 2);
      long begin = System.nanoTime();
      double loss = trainEpoch();
      double seconds = (System.nanoTime() - begin) / 1e9;
      // Each rank has normalized batches of its own: rank 0's means count.
      program.namedBuffers().values().forEach(buffer -> group.broadcast(buffer, 0));
      String accuracy = tested ? String.format(", test accuracy %.2f %%", 100 * testAccuracy()) : "";
      finishedEpochs++;
      if (reports()) {
        System.out.printf("epoch %d/%d: loss %.3f%s, %.1f pictures/s%n", finishedEpochs, wanted, loss, accuracy,
            train.sampleCount() / seconds);
      }
      save();
    }
    if (checkpoints != null) {
      checkpoints.await();
    }
  }

  /** Mean loss over all ranks. */
  private double trainEpoch() {
    ddp.train();
    double sum = 0;
    for (Loader.Batch batch : train.epoch(finishedEpochs)) {
      try (batch; Scope scope = Scope.open()) {
        Tensor scores = ddp.forward(batch.get("image").to(device));
        Tensor loss = Functional.crossEntropy(scores, batch.get("label").to(device));
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        sum += loss.item();
      }
    }
    if (Double.isNaN(sum)) {
      throw new TandemInvalidArgumentException("finetune", "the loss is not a number; try a smaller --lr than " + learningRate);
    }
    return total(sum / train.batchCount()) / group.size();
  }

  /** Each rank takes its part of each batch; the right ones are added up. */
  private double testAccuracy() {
    ddp.eval();
    double right = 0;
    for (Loader.Batch batch : test.epoch(0)) {
      try (batch; Scope scope = Scope.open()) {
        if (batch.localCount() > 0) { // of the last batch some ranks may have nothing
          Tensor labels = batch.get("label").to(device);
          right += Tandem.noGrad(
              () -> program.forward(batch.get("image").to(device)).argmax(1).eq(labels).sum().item());
        }
      }
    }
    return total(right) / test.sampleCount();
  }

  /** Added up over all ranks. */
  private double total(double value) {
    try (Scope scope = Scope.open()) {
      Tensor sum = Tensor.of(new double[] {value}).to(device);
      group.allReduce(sum, ReduceOp.SUM);
      return sum.item();
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
      program.namedParameters().values().forEach(parameter -> digest.update(parameter.toByteBuffer()));
      return ByteBuffer.wrap(digest.digest()).getLong();
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible); // every Java has SHA-256
    }
  }

  private void save() {
    if (checkpoints == null) {
      return;
    }
    try (Scope scope = Scope.open()) {
      checkpoints.saveAsync(finishedEpochs, new CheckpointFolder.Content()
          .add("model", program.stateDict())
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
          System.out.println("going on from checkpoint " + last.step());
        }
        finishedEpochs = (int) last.step();
        program.loadStateDict(last.sections().get("model"));
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
    train.close();
    optimizer.close();
    ddp.close();
  }
}
