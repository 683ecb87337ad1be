package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Another Java process with this one's class path. */
final class Child {
  private static final long TIMEOUT_SECONDS = 120;

  private final Process process;
  private final Path log;

  private Child(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  static Child start(List<String> flags, Class<?> main, String... arguments) throws IOException {
    return start(flags, Map.of(), main, arguments);
  }

  static Child start(List<String> flags, Map<String, String> environment, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(flags);
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return start(command, environment);
  }

  static Child start(List<String> command, Map<String, String> environment) throws IOException {
    Path log = Files.createTempFile("tandem-child", ".log");
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    return new Child(builder.start(), log);
  }

  long pid() {
    return process.pid();
  }

  /** Waits for the end. */
  void expect(int code) throws IOException, InterruptedException {
    boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      process.destroyForcibly();
    }
    assertTrue(ended, "still running after " + TIMEOUT_SECONDS + " s: " + output());
    assertEquals(code, process.exitValue(), output());
  }

  String output() throws IOException {
    return Files.readString(log);
  }
}
