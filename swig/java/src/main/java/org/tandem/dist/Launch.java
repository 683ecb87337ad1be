package org.tandem.dist;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.tandem.TandemException;

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
    } catch (Exception error) {
      boolean expected = error instanceof TandemException;
      System.err.println("error: " + (expected ? error.getMessage() : error.toString()));
      if (!expected) {
        error.printStackTrace();
      }
      writeErrorFile(error);
      System.exit(1);
    }
  }

  /** RANK, 0 outside a launcher. */
  public static int rank() {
    return number("RANK", 0);
  }

  /** Number of this process on its host, 0 outside a launcher. */
  public static int localRank() {
    return number("LOCAL_RANK", 0);
  }

  /** WORLD_SIZE, 1 outside a launcher. */
  public static int worldSize() {
    return number("WORLD_SIZE", 1);
  }

  private static int number(String variable, int otherwise) {
    String text = System.getenv(variable);
    if (text == null || text.isEmpty()) {
      return otherwise;
    }
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException unreadable) {
      throw new org.tandem.TandemInvalidArgumentException(
          "Launch", "the environment's " + variable + "='" + text + "' is no number");
    }
  }

  private static void writeErrorFile(Exception error) {
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
