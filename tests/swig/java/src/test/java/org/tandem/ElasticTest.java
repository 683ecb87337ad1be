package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.elastic.Elastic;
import org.tandem.elastic.Job;
import org.tandem.elastic.Place;
import org.tandem.elastic.State;

/** Elastic training in Java under the real launcher: what happens to a rank, and what comes of the model. */
@Timeout(120)
class ElasticTest {
  private static double[] undisturbed;

  @TempDir
  Path folder;

  /** One rank without a launcher, in this process. */
  @BeforeAll
  static void trainUndisturbed() throws Exception {
    undisturbed = new ElasticProgram().train();
    assertEquals(25 + 1 + 25, undisturbed.length); // parameters, and their averages with the number of updates
  }

  /** The program under the launcher. */
  private final class Launched {
    private final Child child;
    private String log;

    Launched(int code, List<String> flags, String... settings) throws Exception {
      this(flags, settings);
      expect(code);
    }

    Launched(List<String> flags, String... settings) throws Exception {
      this(List.of(), flags, settings);
    }

    /** {@code before}: what starts Java. */
    Launched(List<String> before, List<String> flags, String... settings) throws Exception {
      List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("tandem.bin"), "tandem").toString(), "run"));
      command.addAll(flags);
      command.addAll(List.of("--no-prefix", "--"));
      command.addAll(before);
      command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
          "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m", "-cp", System.getProperty("java.class.path"),
          ElasticProgram.class.getName(), "FOLDER=" + folder));
      command.addAll(List.of(settings));
      child = Child.start(command, Map.of("OMP_NUM_THREADS", "1"));
    }

    void expect(int code) throws Exception {
      child.expect(code);
      log = child.output();
    }

    /** Until a rank has completed that step. */
    void await(int step) throws Exception {
      while (!Files.exists(folder.resolve("step." + step))) {
        Thread.sleep(20);
      }
    }

    void signal(String name) throws Exception {
      ElasticProgram.signal(child.pid(), name);
    }

    /** Parameters of all that came to the end, equal to the bit. */
    double[] values(int ranks) {
      List<double[]> all = log.lines().filter(line -> line.contains(": values ")).map(line ->
          Arrays.stream(line.substring(line.indexOf(": values ") + 9).split(" ")).mapToDouble(Double::parseDouble).toArray())
          .toList();
      assertEquals(ranks, all.size(), log);
      all.forEach(one -> assertArrayEquals(all.get(0), one));
      return all.get(0);
    }

    void assertSays(String... texts) {
      for (String text : texts) {
        assertTrue(log.contains(text), () -> "not said: " + text + "\n" + log);
      }
    }

    void assertAsUndisturbed(int ranks) {
      assertArrayEquals(undisturbed, values(ranks), 1e-12, log);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"gloo", "shm"})
  void aLostRankCostsNoStepAndEverythingGoesBack(String backend) throws Exception {
    Launched run = new Launched(0, List.of("-n", "2"), "BACKEND=" + backend, "FAULT=kill-forward@10/1", "ZERO_AFTER=1");
    run.assertSays("killed by SIGKILL", "now 1 rank, from step 8 on", "member 0: reset to epoch 1 of 2 ranks at step 0, 0 batches",
        "member 0: reset to epoch 2 of 1 ranks at step 8, 8 batches");
    run.assertAsUndisturbed(1);
    // The random numbers are those of the commit, not of the steps that were lost.
    assertEquals(rng(run.log, "member 0: commit at step 8, rng (\\w+)"), rng(run.log, "at step 8, 8 batches, rng (\\w+)"));
    assertNotEquals(rng(run.log, "member 0: commit at step 4, rng (\\w+)"), rng(run.log, "at step 8, 8 batches, rng (\\w+)"));
  }

  private static String rng(String log, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(log);
    assertTrue(found.find(), () -> pattern + " is not in " + log);
    return found.group(1);
  }

  /** When there is no step left to stop at, training comes to its end. */
  private Launched sigtermInTheLastStepFailsNoJob() throws Exception {
    Launched run = new Launched(0, List.of("-n", "2"), "BACKEND=shm", "DROPOUT=1", "FAULT=ask-end@24/1");
    run.assertSays("member 0: outcome FINISHED", "member 1: outcome FINISHED");
    return run;
  }

  @Test
  void aSpareTakesTheLostRanksPlaceWithTheSameBits() throws Exception {
    Launched whole = sigtermInTheLastStepFailsNoJob();
    Launched run = new Launched(
        0, List.of("-n", "2", "--spares", "1"), "BACKEND=shm", "DROPOUT=1", "FAULT=await-forward@10/0,kill-forward@10/0", "AWAIT=2");
    run.assertSays("now 2 ranks, from step 8 on", "member 2: reset to epoch 2 of 2 ranks at step 8, 8 batches");
    assertArrayEquals(whole.values(2), run.values(2), run.log);
  }

  @Test
  void anotherProcessJoinsWhoGoesOnAlone() throws Exception {
    Launched run = new Launched(0, List.of("-n", "2", "--max-restarts", "1"), "PAUSE=100",
        "FAULT=kill-forward@6/1,await-forward@8/0", "AWAIT=2");
    run.assertSays("another one takes its place", "now 1 rank, from step 4 on", "now 2 ranks, from step", "member 0: stops after step");
    run.assertAsUndisturbed(2);
  }

  @Test
  void aNodeJoinsBetweenTwoSteps() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    List<String> flags = List.of("-n", "1", "--nnodes", "1:2", "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:" + port,
        "--rdzv-conf", "keep_alive_interval=1,join_timeout=30,last_call_timeout=0");
    Launched first = new Launched(flags, "PAUSE=100", "FAULT=await-forward@6/0", "AWAIT=second");
    first.await(6);
    Launched second = new Launched(flags, "PAUSE=100", "NAME=second");
    first.expect(0);
    second.expect(0);
    first.assertSays("now 2 ranks, from step", "member 0: stops after step");
    first.assertAsUndisturbed(1);
    assertArrayEquals(first.values(1), second.values(1), second.log);
  }

  @Test
  void allLostGoOnFromTheCheckpoint() throws Exception {
    Launched run = new Launched(0, List.of("-n", "2", "--max-restarts", "2"), "CHECKPOINTS=" + folder.resolve("run"),
        "CHECKPOINT_EVERY=8", "PAUSE=100", "FAULT=kill-forward@14/0,kill-forward@14/1");
    run.assertSays("at step 8, 8 batches");
    int ends = (int) run.log.lines().filter(line -> line.contains(": values ")).count();
    run.assertAsUndisturbed(ends);
    assertEquals(2, run.log.lines().filter(line -> line.contains("reset") && line.contains("at step 0,")).count(), run.log);
  }

  /** SIGTERM ends Java, but not before this process has completed its step, committed and left. */
  @Test
  void sigtermAndSigusr1HaveARankLeaveBetweenTwoSteps() throws Exception {
    for (String kind : List.of("term", "usr1")) { // leave() is below
      Launched run = new Launched(0, List.of("-n", "2"), "PAUSE=100", "FAULT=" + kind + "-forward@9/1");
      run.assertSays("member 1: outcome LEFT", "member 0: outcome FINISHED", "now 1 rank, from step");
      assertFalse(run.log.contains("killed by"), run.log);
      assertFalse(run.log.contains("error: "), run.log);
      // Nothing was rolled back.
      long stopped = Long.parseLong(rng(run.log, "member 1: stops after step (\\d+)"));
      run.assertSays("member 0: reset to epoch 2 of 1 ranks at step " + stopped + ", " + stopped + " batches");
      run.assertAsUndisturbed(1);
      assertEquals(kind.equals("usr1"), run.log.contains("member 1: lives on"), run.log);
      try (var files = Files.list(folder)) {
        for (Path file : (Iterable<Path>) files::iterator) {
          Files.delete(file);
        }
      }
    }
  }

  /** Nobody is killed: the launcher, which waits for a minute, serves those who leave. */
  @Test
  void aLaunchThatIsToldToEndHasAllRanksLeaveInOrder() throws Exception {
    Launched run = new Launched(List.of("-n", "2", "--spares", "1", "--grace", "100"), "PAUSE=200", "STEPS=1000");
    run.await(6);
    run.signal("TERM");
    run.expect(128 + 15);
    run.assertSays("stopping all ranks: SIGTERM", "member 0: outcome LEFT", "member 1: outcome LEFT", "member 2: outcome LEFT");
    assertEquals(rng(run.log, "member 0: stops after step (\\d+)"), rng(run.log, "member 1: stops after step (\\d+)"));
  }

  /** With the launcher's own patience, and where training runs on a thread that lives on. */
  @Test
  void whoLeavesAtTheEndOfALaunchEndsBeforeItIsKilled() throws Exception {
    Launched run = new Launched(List.of("sh", "-c", "trap : TERM; \"$@\"; echo \"ended with $?\"", "sh"), List.of("-n", "2"),
        "PAUSE=100", "STEPS=1000", "POOL=1");
    run.await(6);
    run.signal("TERM");
    run.expect(128 + 15);
    run.assertSays("member 0: outcome LEFT", "member 1: outcome LEFT");
    assertEquals(2, run.log.lines().filter(line -> line.equals("ended with 143")).count(), run.log);
  }

  @Test
  void withoutPatienceTheEndOfTheProgramIsALoss() throws Exception {
    Launched run = new Launched(0, List.of("-n", "2"), "FAULT=term-forward@6/1", "LEAVE_AT_EXIT=0", "PAUSE=20");
    run.assertSays("exited with code 143", "now 1 rank, from step");
    assertFalse(run.log.contains("member 1: stops after step"), run.log);
    assertFalse(run.log.contains("member 1: outcome"), run.log);
    run.assertAsUndisturbed(1);
  }

  /** What is no notice of the change is not lost, and an interrupt always ends training. */
  @Test
  void anExceptionInPlaceOfTheNoticeIsSaid() throws Exception {
    for (String file : List.of("throws.0", "throws.1", "interrupted.2")) {
      Files.createFile(folder.resolve(file));
    }
    Launched run = new Launched(0, List.of("-n", "3"), "PAUSE=20", "FAULT=leave-forward@9/1");
    run.assertSays("training goes on in spite of what it threw: java.lang.IllegalStateException: cannot put things away",
        "error: java.lang.IllegalStateException: cannot put things away", "which had left, exited with code 1",
        "error: java.lang.InterruptedException: told to stop", "member 0: outcome FINISHED");
    assertFalse(run.log.contains("member 2: outcome"), run.log);
    run.assertAsUndisturbed(1);
  }

  @Test
  void anExceptionOfTheProgramEndsItsRankAlone() throws Exception {
    Launched run = new Launched(0, List.of("-n", "2"), "BACKEND=shm", "FAULT=checked-forward@6/1");
    run.assertSays("a fault of the program's own", "now 1 rank, from step 4 on");
    run.assertAsUndisturbed(1);
  }

  /** The root cause is the launcher's report, with Java's stack. */
  @Test
  void whereItEndsTheJobTheExceptionAndItsStackAreTheReport() throws Exception {
    Launched run = new Launched(1, List.of("-n", "2", "--min-ranks", "2"), "FAULT=throw-forward@6/1");
    run.assertSays("a fault of the program's own", "org.tandem.ElasticProgram.harm(ElasticProgram.java:",
        "of the 2 ranks that it takes to go on 1 are left");
  }

  @Test
  void systemExitInsideOfTrainingEndsAtOnce() throws Exception {
    Launched run = new Launched(0, List.of("-n", "2"), "FAULT=exit-forward@6/1", "LEAVE_AT_EXIT=600");
    run.assertSays("exited with code 3", "now 1 rank, from step 4 on");
    run.assertAsUndisturbed(1);
  }

  @Test
  void whoHangsIsNamedWithItsThreadsOfJava() throws Exception {
    Launched run = new Launched(0, List.of("-n", "2", "--step-timeout", "3"), "FAULT=hang-forward@6/1");
    run.assertSays("waits for no other rank; it is killed. What its threads did:", "[libjvm.so]",
        "org.tandem.ElasticProgram.standStill(ElasticProgram.java:");
    run.assertAsUndisturbed(1);
  }

  @Test
  void whoComputesWronglyIsNamedAndPutOut() throws Exception {
    Launched run = new Launched(0, List.of("-n", "3"), "CHECK_EVERY=4", "FAULT=corrupt-forward@6/2");
    run.assertSays("after step 8 rank 2 has another 'model.0.weight' than the 2 others", "now 2 ranks, from step 4 on");
    run.assertAsUndisturbed(2);
  }

  @Test
  void exceptionsAreTheProgramsOwn() throws Exception {
    IOException wrong = new IOException("wrong");
    State state = new State().text("a", () -> "", saved -> { });
    assertSame(wrong, assertThrows(IOException.class, () -> Elastic.run(state, job -> {
      assertEquals(1, job.size());
      throw wrong;
    }, new Elastic.Options())));
    for (Throwable thrown : List.of(new InterruptedException(), new AssertionError())) {
      assertSame(thrown, assertThrows(thrown.getClass(), () -> Elastic.run(new State(), job -> {
        if (thrown instanceof Error error) {
          throw error;
        }
        throw (InterruptedException) thrown;
      }, new Elastic.Options())));
    }
    assertThrows(TandemInvalidArgumentException.class, () -> state.text("a", () -> "", saved -> { }));
    assertThrows(TandemInvalidArgumentException.class, () -> new State().rng().rng(Device.CPU));
    for (Elastic.Options options : List.of(new Elastic.Options().commitEvery(0), new Elastic.Options().checkpointEvery(10),
             new Elastic.Options().checkEvery(15), new Elastic.Options().checkpoints(folder).checkpointEvery(15))) {
      TandemException refused = assertThrows(TandemInvalidArgumentException.class, () -> new Elastic(options));
      assertTrue(refused.getMessage().startsWith("Elastic: "), refused.getMessage());
    }
    assertThrows(TandemInvalidArgumentException.class,
        () -> Elastic.run(new State().rng(), job -> { }, new Elastic.Options().seed(1)));
    TandemException unknown = assertThrows(
        TandemException.class, () -> Elastic.run(state, job -> { }, new Elastic.Options().backend("nonsense")));
    assertTrue(unknown.getMessage().contains("nonsense"), unknown.getMessage());
  }

  @Test
  void anotherThreadAbortsIt() throws Exception {
    try (Elastic elastic = new Elastic(new Elastic.Options())) {
      assertThrows(TandemAbortedException.class, () -> elastic.run(new State(), job -> {
        Thread aborting = new Thread(elastic::abort);
        aborting.start();
        aborting.join();
        job.group().barrier();
      }));
      assertThrows(TandemInvalidArgumentException.class, () -> elastic.run(new State(), job -> { }));
    }
  }

  /** Which ends what the training waits for in its group. */
  @Test
  void anotherThreadClosesIt() throws Exception {
    Elastic elastic = new Elastic(new Elastic.Options());
    Job[] last = new Job[1];
    assertThrows(TandemAbortedException.class, () -> elastic.run(new State(), job -> {
      last[0] = job;
      Thread closing = new Thread(elastic::close);
      closing.start();
      closing.join();
      job.group().barrier();
    }));
    last[0].leave(); // too late for anything
    elastic.leave();
    elastic.abort();
  }

  /** What is no whole number does not compile, rather than lose its fraction. */
  @Test
  void numbersOfAStateAreWholeOnes() throws Exception {
    Path source = Files.writeString(folder.resolve("Numbers.java"),
        "class Numbers { Object state = new org.tandem.elastic.State().number(\"a\", () -> 0.5, saved -> { }); }");
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    int code = ToolProvider.getSystemJavaCompiler().run(null, said, said, "-proc:none", "-XDrawDiagnostics", "-d",
        folder.toString(), "-cp", System.getProperty("java.class.path"), source.toString());
    assertEquals(1, code, said.toString());
    assertTrue(said.toString().contains("possible.loss.of.precision: double, long"), said.toString());
    long[] number = {Long.MAX_VALUE};
    State state = new State().number("a", () -> number[0], saved -> number[0] = saved);
    Elastic.run(state.onReset(job -> assertEquals(Long.MAX_VALUE, number[0])), job -> job.step(), new Elastic.Options());
  }

  /** A loader that takes the place of another goes on where that one stood. */
  @Test
  void aPlaceFollowsOneLoaderAfterAnother() {
    Place place = new Place();
    try (Dataset samples = Dataset.ofTensors(List.of(Tensor.arange(0, 6)), "x")) {
      Loader.Options options = new Loader.Options().batchSize(2).shuffle(false);
      try (Loader first = new Loader(samples, options)) {
        place.follow(first);
        first.epoch(0).iterator().next().close();
        first.commit();
        try (Loader second = new Loader(samples, options)) {
          place.follow(second);
          try (Loader.Batch batch = second.epoch(0).iterator().next()) {
            assertEquals(List.of(2L, 3L), Arrays.stream(batch.get("x").toLongArray()).boxed().toList());
          }
        }
      }
    }
  }
}
