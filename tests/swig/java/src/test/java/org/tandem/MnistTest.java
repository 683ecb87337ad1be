package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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

  /** As on two hosts: what rank 0 makes of the originals is not there for the other. */
  @Test
  void ranksThatDoNotSeeRank0sFilesMakeTheirOwn(@TempDir Path folder) throws Exception {
    writeIdx(folder, "train", 80);
    writeIdx(folder, "t10k", 10);
    List<String> ends = run(List.of("--data", folder.toString(), "--batch-size", "32", "--epochs", "1", "--output"),
        List.of(folder.resolve("a").toString(), folder.resolve("b").toString()));
    assertTrue(ends.get(0).contains("equal on all 2 ranks"), ends.get(0));
    for (String name : List.of("train.recordio", "test.recordio")) {
      Path of = folder.resolve("a/recordio").resolve(name);
      assertEquals(-1, Files.mismatch(of, folder.resolve("b/recordio").resolve(name)));
    }
  }

  /** {@code count} pictures and labels as MNIST's files have them. */
  private static void writeIdx(Path folder, String set, int count) throws Exception {
    byte[] pixels = new byte[count * Mnist.SIDE * Mnist.SIDE];
    byte[] labels = new byte[count];
    for (int i = 0; i < count; i++) {
      labels[i] = (byte) (i % 10);
      Arrays.fill(pixels, i * Mnist.SIDE * Mnist.SIDE, (i + 1) * Mnist.SIDE * Mnist.SIDE, (byte) (20 * labels[i]));
    }
    Files.write(folder.resolve(set + "-images-idx3-ubyte"), ByteBuffer.allocate(16 + pixels.length).putInt(0x803)
        .putInt(count).putInt(Mnist.SIDE).putInt(Mnist.SIDE).put(pixels).array());
    Files.write(folder.resolve(set + "-labels-idx1-ubyte"),
        ByteBuffer.allocate(8 + count).putInt(0x801).putInt(count).put(labels).array());
  }

  /** Outputs of both ranks. */
  private static List<String> run(List<String> flags, String... more) throws Exception {
    List<String> all = new ArrayList<>(flags);
    all.addAll(List.of(more));
    return run(all, List.of());
  }

  /** {@code last}: an argument of each rank's own. */
  private static List<String> run(List<String> flags, List<String> last) throws Exception {
    String port = freePort();
    List<Child> ranks = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      List<String> command = new ArrayList<>(List.of(System.getProperty("tandem.bin") + "/mnist-java"));
      command.addAll(flags);
      if (!last.isEmpty()) {
        command.add(last.get(rank));
      }
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
