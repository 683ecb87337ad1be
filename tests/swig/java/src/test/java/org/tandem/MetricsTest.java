package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.dist.Metrics;
import org.tandem.internal.Json;

/** What a program in Java reports is what the launcher shows. */
@Timeout(120)
class MetricsTest {
  private static final String TANDEM = Path.of(System.getProperty("tandem.bin"), "tandem").toString();

  @Test
  void whatIsWrongIsSaidWithoutALauncherToo() {
    new Metrics().step(3).epoch(1).samples(64).loss(0.25).waited(Duration.ofMillis(1)).report();
    for (Map.Entry<String, Consumer<Metrics>> wrong : Map.<String, Consumer<Metrics>>of("step", metrics -> metrics.step(-1), "epoch",
             metrics -> metrics.epoch(-2), "samples", metrics -> metrics.samples(-3), "waited",
             metrics -> metrics.waited(Duration.ofNanos(-1))).entrySet()) {
      Metrics metrics = new Metrics();
      wrong.getValue().accept(metrics);
      TandemException refused = assertThrows(TandemInvalidArgumentException.class, metrics::report);
      assertTrue(refused.getMessage().matches("Metrics\\.report: " + wrong.getKey() + " is (PT)?-.*"), refused.getMessage());
    }
  }

  /** The only rank that `tandem top` shows of a job; null where there is none yet. */
  private static Map<?, ?> rankOf(String job) throws Exception {
    Process top = new ProcessBuilder(TANDEM, "top", "--once", "--json", job).redirectError(Redirect.DISCARD).start();
    String said = new String(top.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(top.waitFor(30, TimeUnit.SECONDS));
    List<?> ranks = top.exitValue() == 0 ? (List<?>) Json.readObject(said).get("ranks") : List.of();
    return ranks.isEmpty() ? null : (Map<?, ?>) ranks.get(0);
  }

  @Test
  void reportsReachTheLauncher() throws Exception {
    String job = "java-" + ProcessHandle.current().pid();
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Child child = Child.start(List.of(TANDEM, "run", "--rdzv-id", job, "--", java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                                  "-Xmx128m", "-cp", System.getProperty("java.class.path"), Programs.class.getName(), "report"),
        Map.of("OMP_NUM_THREADS", "1"));
    Map<?, ?> rank = null;
    while (rank == null || !(rank.get("step") instanceof Long seen) || seen < 3) {
      Thread.sleep(50);
      rank = rankOf(job);
    }
    ElasticProgram.signal(child.pid(), "TERM");
    child.expect(128 + 15);
    long step = (Long) rank.get("step");
    assertEquals(8 * step, rank.get("samples"));
    assertEquals(2L, rank.get("epoch"));
    assertEquals(1.5 + step, ((Number) rank.get("loss")).doubleValue());
    assertEquals(0.25 * step, ((Number) rank.get("wait_seconds")).doubleValue(), 1e-6);
  }
}
