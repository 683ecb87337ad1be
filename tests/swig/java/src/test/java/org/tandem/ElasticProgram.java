package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.Launch;
import org.tandem.elastic.Elastic;
import org.tandem.elastic.Job;
import org.tandem.elastic.MembershipChangeException;
import org.tandem.elastic.Outcome;
import org.tandem.elastic.Place;
import org.tandem.elastic.State;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.Sequential;
import org.tandem.optim.Averages;
import org.tandem.optim.SGD;
import org.tandem.optim.StepLR;

/**
 * A small elastic training that does itself harm, once: FAULT=kind@step/member. Prints what came of it, and what it was told on
 * the way.
 */
final class ElasticProgram {
  static final int STEPS = 24;
  private static final int SAMPLES = 60;
  private static final int BATCH = 12;
  private static final int COMMIT_EVERY = 4;
  private static final double RATE = 0.1;

  private final Map<String, String> settings;
  private final String member = System.getenv().getOrDefault("TANDEM_MEMBER", "0");
  private final int steps;
  private Elastic elastic;
  private Tensor weight;

  // Values of the program's own.
  private long batches;
  private double mean;
  private String trail = "";

  ElasticProgram(String... settings) {
    this.settings = Arrays.stream(settings).map(one -> one.split("=", 2))
        .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1], (first, second) -> second, HashMap::new));
    steps = number("STEPS", STEPS);
  }

  public static void main(String[] arguments) {
    ElasticProgram program = new ElasticProgram(arguments);
    Launch.run(program.settings.containsKey("POOL") ? program::runOnAnotherThread : program::run);
  }

  /** Which lives on when training is over, as those of a pool do. */
  private void runOnAnotherThread() throws Exception {
    ExecutorService pool = Executors.newSingleThreadExecutor();
    pool.submit(() -> {
      run();
      return null;
    }).get();
  }

  private String setting(String name, String otherwise) {
    return settings.getOrDefault(name, otherwise);
  }

  private int number(String name, int otherwise) {
    return Integer.parseInt(setting(name, Integer.toString(otherwise)));
  }

  private void run() throws Exception {
    double[] values = train();
    if (values.length > 0) {
      say("values " + Arrays.stream(values).mapToObj(Double::toHexString).collect(Collectors.joining(" ")));
    }
  }

  /** A line of the log; at once, for the process may be killed. */
  private void say(String text) {
    System.out.println("member " + member + ": " + text);
    System.out.flush();
  }

  private void note(String file) throws IOException {
    if (settings.containsKey("FOLDER")) {
      Files.write(Path.of(setting("FOLDER", "")).resolve(file), new byte[0], StandardOpenOption.CREATE);
    }
  }

  private boolean isThere(String file) {
    return Files.exists(Path.of(setting("FOLDER", "")).resolve(file));
  }

  /** Parameters at the end; none where the process left, or was not needed. */
  double[] train() throws Exception {
    Tandem.setNumThreads(1);
    Tandem.manualSeed(number("SEED", 1));
    Elastic.Options options = new Elastic.Options().backend(setting("BACKEND", "gloo")).timeout(Duration.ofSeconds(60))
        .commitEvery(COMMIT_EVERY).checkEvery(number("CHECK_EVERY", 0)).checkpointEvery(number("CHECKPOINT_EVERY", 0))
        .leaveOnSignal(true).leaveAtExit(Duration.ofSeconds(number("LEAVE_AT_EXIT", 30)));
    if (settings.containsKey("CHECKPOINTS")) {
      options.checkpoints(Path.of(setting("CHECKPOINTS", "")));
    }
    if (settings.containsKey("DROPOUT")) {
      options.seed(9);
    }
    double[] points = new double[SAMPLES];
    double[] squares = new double[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
      points[i] = 2.0 * i / SAMPLES - 1;
      squares[i] = points[i] * points[i];
    }
    try (Dataset samples = Dataset.ofTensors(
             List.of(Tensor.of(points, SAMPLES, 1), Tensor.of(squares, SAMPLES, 1)), "x", "y");
        Module net = new Sequential(new Linear(1, 8), Sequential.step(Tensor::tanh), new Linear(8, 1)).to(DType.FLOAT64);
        SGD sgd = new SGD(net.parameters(), RATE, new SGD.Options().momentum(0.9));
        StepLR schedule = new StepLR(sgd, 7, new StepLR.Options().gamma(0.8));
        Averages ema = Averages.ema(net.parameters(), List.of(), 0.9);
        Tensor steps = Tensor.zeros(DType.INT64, 2)) {
      weight = net.parameters().get(0);
      Place place = new Place();
      State state = new State().module("model", net).optimizer("optimizer", sgd).scheduler("scheduler", schedule)
          .averages("ema", ema).place("data", place).tensors("counted", () -> Map.of("steps", steps))
          .number("batches", () -> batches, saved -> batches = saved).real("mean", () -> mean, saved -> mean = saved)
          .text("trail", () -> trail, saved -> trail = saved)
          .onReset(this::reset);
      if (!settings.containsKey("DROPOUT")) {
        state.rng();
      }
      Outcome outcome;
      note("waits." + setting("NAME", member));
      try (Elastic run = new Elastic(options)) {
        elastic = run;
        outcome = run.run(state, job -> epoch(job, samples, net, sgd, schedule, ema, place, steps));
      }
      if (isThere("once." + setting("FAULT", "").replace('/', '.')) && setting("FAULT", "").startsWith("usr1")
          && outcome == Outcome.LEFT) { // whoever sends it does so twice
        signal(ProcessHandle.current().pid(), "USR1");
        say("lives on");
      }
      say("outcome " + outcome);
      if (outcome != Outcome.FINISHED) {
        return new double[0];
      }
      try (Scope scope = Scope.open()) {
        assertEquals(List.of((long) this.steps, (long) this.steps), Arrays.stream(steps.toLongArray()).boxed().toList());
        return Tensor.cat(Stream.concat(net.parameters().stream(), ema.stateDict().values().stream())
            .map(one -> one.detach().to(DType.FLOAT64).flatten(0)).toList(), 0).toDoubleArray();
      }
    }
  }

  private void reset(Job job) {
    say("reset to epoch " + job.epoch() + " of " + job.size() + " ranks at step " + job.steps() + ", " + batches
        + " batches, rng " + rngHash());
  }

  private static String rngHash() {
    try (Tensor state = Tandem.rngState(Device.CPU)) {
      return Integer.toHexString(Arrays.hashCode(state.toByteArray()));
    }
  }

  private void epoch(Job job, Dataset samples, Module net, SGD sgd, StepLR schedule, Averages ema, Place place,
      Tensor counted) throws Exception {
    harm("begin", job);
    boolean isZeroedAfter = settings.containsKey("ZERO_AFTER");
    try (DistributedDataParallel model = new DistributedDataParallel(net, job.group());
        Loader loader = new Loader(samples, new Loader.Options().batchSize(BATCH).globalBatch(true)
            .rank(job.rank(), job.size()).seed(3))) {
      place.follow(loader);
      while (job.steps() < steps) {
        for (Loader.Batch batch : loader.epoch(loader.currentEpoch())) {
          try (batch; Scope scope = Scope.open()) {
            harm("forward", job);
            Tensor output = model.forward(dropout(batch.get("x")));
            Tensor loss = output.sub(batch.get("y")).pow(2).sum().mul((double) job.size() / batch.globalCount());
            if (!isZeroedAfter) {
              sgd.zeroGrad();
            }
            loss.backward();
            sgd.step();
            if (isZeroedAfter) {
              sgd.zeroGrad();
            }
            counted.addInPlace(Tensor.full(1, DType.INT64));
            schedule.step();
            ema.update();
            batches++;
            mean += (1.0 / 3 - mean) / 7;
            trail = "step " + batches + " \"ö\\\u2028\n";
            loader.commit();
            Thread.sleep(number("PAUSE", 0));
            job.describe("batch " + batches);
            step(job);
            note("step." + job.steps());
            if (job.steps() == steps) {
              break;
            }
          }
        }
      }
    }
    harm("end", job);
    double expected = 0;
    for (int i = 0; i < steps; i++) {
      expected += (1.0 / 3 - expected) / 7;
    }
    if (batches != steps || mean != expected || !trail.equals("step " + steps + " \"ö\\\u2028\n")) {
      throw new IllegalStateException(batches + " batches count, their mean is " + mean + ", the trail " + trail);
    }
  }

  private Tensor dropout(Tensor input) {
    if (!settings.containsKey("DROPOUT")) {
      Tensor.randn(1); // moves the random numbers on
      return input;
    }
    return input.mul(Tensor.randn(1).to(DType.FLOAT64).mul(0.01).add(1));
  }

  private void step(Job job) throws InterruptedException {
    try {
      job.step();
    } catch (MembershipChangeException change) {
      say("stops after step " + job.steps());
      if (isThere("throws." + member)) {
        throw new IllegalStateException("cannot put things away");
      }
      if (isThere("interrupted." + member)) {
        throw new InterruptedException("told to stop");
      }
      throw change;
    } finally {
      if (job.steps() % COMMIT_EVERY == 0) {
        say("commit at step " + job.steps() + ", rng " + rngHash());
      }
    }
  }

  /** What FAULT says is done, to this member, in this step, once. */
  private void harm(String where, Job job) throws Exception {
    for (String fault : setting("FAULT", "").split(",")) {
      if (!fault.isEmpty()) {
        String[] kind = fault.substring(0, fault.indexOf('@')).split("-");
        String[] time = fault.substring(fault.indexOf('@') + 1).split("/");
        if (kind[1].equals(where) && Long.parseLong(time[0]) == job.steps() && time[1].equals(member) && isFirstTo(fault)) {
          harm(kind[0]);
        }
      }
    }
  }

  private boolean isFirstTo(String fault) throws IOException {
    try {
      Files.createFile(Path.of(setting("FOLDER", "")).resolve("once." + fault.replace('/', '.')));
      return true;
    } catch (FileAlreadyExistsException done) {
      return false;
    }
  }

  private void harm(String kind) throws Exception {
    switch (kind) {
      case "await" -> { // another process
        for (int i = 0; i < 3000 && !isThere("waits." + setting("AWAIT", "")); i++) {
          Thread.sleep(10);
        }
        Thread.sleep(1500); // until it waits to be needed, most likely
      }
      case "kill", "term", "usr1" -> signal(ProcessHandle.current().pid(), kind.toUpperCase(java.util.Locale.ROOT));
      case "ask" -> { // the end of the program, whose hook has asked for this process to leave soon after
        signal(ProcessHandle.current().pid(), "TERM");
        Thread.sleep(700);
      }
      case "leave" -> elastic.leave();
      case "throw" -> throw new IllegalStateException("a fault of the program's own");
      case "checked" -> throw new IOException("a fault of the program's own");
      case "exit" -> System.exit(3);
      case "hang" -> standStill();
      case "corrupt" -> { // as a bit that memory does not keep
        try (Tandem.NoGrad off = Tandem.noGrad()) {
          weight.mulInPlace(1 + 1e-9);
        }
      }
      default -> throw new IllegalArgumentException(kind);
    }
  }

  static void signal(long pid, String name) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
    if (!kill.waitFor(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("kill does not end");
    }
  }

  private static void standStill() throws InterruptedException {
    while (true) {
      Thread.sleep(60_000);
    }
  }
}
