package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.data.Mnist;

/** The example as two processes, on part of the real digits. TANDEM_TEST_DATA names the folder with mnist10k. */
class MnistTest {
  @Test
  void twoProcessesLearnDigitsAndResume(@TempDir Path folder) throws Exception {
    String data = System.getenv("TANDEM_TEST_DATA");
    if (data == null || data.isEmpty()) {
      System.out.println("SKIPPED: the real digits; set TANDEM_TEST_DATA to the folder that holds mnist10k");
    }
    assumeTrue(data != null && !data.isEmpty());
    Path images = Path.of(data, "mnist10k", "t10k-images-idx3-ubyte.gz");
    Path labels = Path.of(data, "mnist10k", "t10k-labels-idx1-ubyte.gz");
    assertEquals(2000, Mnist.toRecordIO(images, labels, folder.resolve("train.recordio"), 0, 2000));
    assertEquals(1000, Mnist.toRecordIO(images, labels, folder.resolve("test.recordio"), 9000, -1));

    Path output = folder.resolve("output");
    String checkpoints = folder.resolve("run").toString();
    List<String> flags =
        List.of("--data", folder.toString(), "--output", output.toString(), "--batch-size", "32");
    String first = run(flags, "--epochs", "2", "--checkpoints", checkpoints).get(0);
    Matcher accuracy = Pattern.compile("epoch 2/2: loss [0-9.]+, test accuracy ([0-9.]+) %").matcher(first);
    assertTrue(accuracy.find(), first);
    assertTrue(Double.parseDouble(accuracy.group(1)) >= 80, first);
    assertTrue(Pattern.compile("parameters: [0-9a-f]{16}, equal on all 2 ranks").matcher(first).find(), first);
    assertEquals(800, ImageIO.read(output.resolve("curve.png").toFile()).getWidth());
    assertTrue(ImageIO.read(output.resolve("digits.png").toFile()).getHeight() > 100);

    String resumed = run(flags, "--epochs", "3", "--checkpoints", checkpoints).get(0);
    assertTrue(resumed.contains("epoch 3/3: loss 0.") && !resumed.contains("epoch 2/3"), resumed);
  }

  /** Outputs of both ranks. */
  private static List<String> run(List<String> flags, String... more) throws Exception {
    String port = freePort();
    List<String> command = new ArrayList<>(List.of(System.getProperty("tandem.bin") + "/mnist-java"));
    command.addAll(flags);
    command.addAll(List.of(more));
    List<Child> ranks = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      String number = Integer.toString(rank);
      ranks.add(Child.start(command, Map.of("RANK", number, "LOCAL_RANK", number, "WORLD_SIZE", "2",
          "LOCAL_WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", port,
          "OMP_NUM_THREADS", "1")));
    }
    List<String> outputs = new ArrayList<>();
    for (Child rank : ranks) {
      rank.expect(0);
      outputs.add(rank.output().replaceAll("[^\r\n]*\r", "")); // without what the progress bar overwrote
    }
    return outputs;
  }

  private static String freePort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return Integer.toString(socket.getLocalPort());
    }
  }

  @Test
  void badInputIsNamed(@TempDir Path output) throws Exception {
    String program = System.getProperty("tandem.bin") + "/mnist-java";
    Path empty = Files.createDirectory(output.resolve("empty"));
    Child noData = Child.start(List.of(program, "--data", empty.toString()), Map.of("RANK", "0", "WORLD_SIZE", "1",
        "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", freePort()));
    noData.expect(1);
    assertTrue(noData.output().startsWith("error: ") && noData.output().contains(empty.toString()), noData.output());
    Child noRank = Child.start(List.of(program, "--data", empty.toString()),
        Map.of("WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", "1"));
    noRank.expect(1);
    assertTrue(noRank.output().contains("RANK"), noRank.output());
    Child badFlag = Child.start(List.of(program, "--data", empty.toString(), "--epochs", "many"), Map.of());
    badFlag.expect(1);
    assertTrue(badFlag.output().contains("--epochs"), badFlag.output());
  }
}
