package org.tandem.dist;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.tandem.TandemException;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.TandemNative;

/** The frame of a program that a launcher starts on every rank. */
public final class Launch {
  private Launch() {}

  /** A program's body. */
  @FunctionalInterface
  public interface Body {
    void run() throws Exception;
  }

  /**
   * Runs {@code body}. When it throws, prints why, writes the error file that the launcher asked for
   * (TORCHELASTIC_ERROR_FILE) and ends the process with code 1.
   */
  public static void run(Body body) {
    try {
      body.run();
    } catch (Exception | Error error) {
      boolean expected = error instanceof TandemException;
      System.err.println("error: " + (expected ? error.getMessage() : error.toString()));
      if (!expected) {
        error.printStackTrace();
      }
      writeErrorFile(error);
      System.exit(1);
    }
  }

  /** RANK, or that of a scheduler (srun, mpirun, Kubeflow: docs/schedulers.md); 0 of a process that was started alone. */
  public static int rank() {
    return number(0, 0);
  }

  /** WORLD_SIZE, or that of a scheduler; 1 of a process that was started alone. */
  public static int worldSize() {
    return number(1, 1);
  }

  /** Number of this process on its host, 0 where nothing says it. */
  public static int localRank() {
    return number(2, 0);
  }

  /** How many processes are on this host, 1 where nothing says it. */
  public static int localWorldSize() {
    return number(3, 1);
  }

  /** Number of this host, 0 where nothing says it. */
  public static int nodeRank() {
    return number(4, 0);
  }

  /**
   * Who says which processes there are: "the environment" (RANK and others, as tandem run and torchrun set them), "Slurm",
   * "Open MPI", "PMIx", "PMI", "Kubernetes"; "" for a process that was started alone.
   */
  public static String launcher() {
    NativeLibrary.load();
    return TandemNative.launcher();
  }

  private static int number(int which, int otherwise) {
    NativeLibrary.load();
    int number = Math.toIntExact(TandemNative.launchPlace()[which]);
    return number < 0 ? otherwise : number;
  }

  private static void writeErrorFile(Throwable error) {
    String path = System.getenv("TORCHELASTIC_ERROR_FILE");
    if (path == null || path.isEmpty()) {
      return;
    }
    StringWriter stack = new StringWriter();
    error.printStackTrace(new PrintWriter(stack));
    String text = "{\"message\":{\"message\":" + json(String.valueOf(error.getMessage()))
        + ",\"extraInfo\":{\"py_callstack\":" + json(stack.toString())
        + ",\"timestamp\":\"" + Instant.now().getEpochSecond() + "\"}}}";
    try {
      Files.writeString(Path.of(path), text);
    } catch (IOException unwritable) {
      System.err.println("error: cannot write " + path + ": " + unwritable.getMessage());
    }
  }

  private static String json(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
