package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.data.RecordIOReader;
import org.tandem.data.RecordIOWriter;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.nn.Linear;
import org.tandem.nn.TorchModule;

class ErrorsTest {
  @TempDir Path folder;

  private static void assertMessage(TandemException error, String... parts) {
    for (String part : parts) {
      assertTrue(error.getMessage().contains(part), "'" + error.getMessage() + "' lacks '" + part + "'");
    }
  }

  @Test
  void everyCodeHasItsException() {
    for (ErrorCode code : ErrorCode.values()) {
      TandemException error = TandemException.of(code, "operation", "message");
      assertEquals(code, error.code());
      assertEquals("operation", error.operation());
      assertEquals("operation: message", error.getMessage());
    }
    assertInstanceOf(TandemTimeoutException.class, TandemException.of(ErrorCode.of(7), "", ""));
    assertInstanceOf(TandemPeerLostException.class, TandemException.of(ErrorCode.of(9), "", ""));
    assertInstanceOf(TandemClosedException.class, TandemException.of(ErrorCode.of(11), "", ""));
    assertEquals(ErrorCode.INTERNAL, ErrorCode.of(1000));
  }

  @Test
  void shapesThatDoNotFit() {
    try (Scope scope = Scope.open()) {
      Tensor a = Tensor.zeros(DType.FLOAT32, 2, 3);
      Tensor b = Tensor.zeros(DType.FLOAT32, 2, 4);
      TandemInvalidArgumentException error = assertThrows(TandemInvalidArgumentException.class, () -> a.add(b));
      assertEquals(ErrorCode.INVALID_ARGUMENT, error.code());
      assertEquals("Operator.call", error.operation());
      assertMessage(error, "3", "4");
      assertMessage(
          assertThrows(TandemInvalidArgumentException.class, () -> Tensor.of(new float[5], 2, 3)), "6", "5");
    }
  }

  @Test
  void backwardOfATensorWithoutGrad() {
    try (Tensor plain = Tensor.scalar(1)) {
      assertMessage(assertThrows(TandemInvalidArgumentException.class, plain::backward), "grad");
    }
  }

  @Test
  void useAfterClose() {
    Tensor tensor = Tensor.scalar(1);
    tensor.close();
    tensor.close();
    assertTrue(tensor.isClosed());
    assertEquals("Tensor(closed)", tensor.toString());
    assertMessage(assertThrows(TandemClosedException.class, tensor::item), "closed");
    try (Tensor open = Tensor.scalar(1)) {
      assertThrows(TandemClosedException.class, () -> open.add(tensor));
      assertThrows(TandemClosedException.class, () -> Tensor.stack(List.of(open, tensor), 0));
    }
    Store store = Store.hash();
    store.close();
    store.close();
    assertThrows(TandemClosedException.class, () -> store.set("a", "b"));
    Linear linear = new Linear(2, 2);
    linear.close();
    linear.close();
    assertThrows(TandemClosedException.class, () -> linear.forward(tensor));
  }

  @Test
  void whatDoesNotExist() {
    assertMessage(assertThrows(TandemNotFoundException.class, () -> Operator.find("aten::no_such_thing", "")),
        "no_such_thing");
    assertMessage(assertThrows(TandemNotFoundException.class, () -> new TorchModule("Frobnicate", new Options())),
        "Frobnicate");
    Path missing = folder.resolve("missing.recordio");
    assertMessage(assertThrows(TandemNotFoundException.class, () -> new RecordIOReader(missing)), missing.toString());
  }

  @Test
  void damagedFiles() throws Exception {
    Path path = folder.resolve("a.recordio");
    try (RecordIOWriter writer = new RecordIOWriter(path)) {
      writer.write(new byte[] {1, 2, 3});
      writer.write(new byte[0]);
      writer.finish();
    }
    try (RecordIOReader reader = new RecordIOReader(path)) {
      assertEquals(2, reader.count());
      org.junit.jupiter.api.Assertions.assertArrayEquals(new byte[] {1, 2, 3}, reader.get(0));
      assertEquals(0, reader.get(1).length);
      assertThrows(TandemOutOfRangeException.class, () -> reader.get(2));
    }
    byte[] bytes = Files.readAllBytes(path);
    bytes[bytes.length - 6] ^= 1;
    Files.write(path, bytes);
    TandemDataLossException error = assertThrows(TandemDataLossException.class, () -> {
      try (RecordIOReader reader = new RecordIOReader(path)) {
        reader.get(0);
      }
    });
    assertMessage(error, path.toString());
  }

  @Test
  void anUnfinishedFileLeavesNothing() throws Exception {
    Path path = folder.resolve("b.recordio");
    try (RecordIOWriter writer = new RecordIOWriter(path)) {
      writer.write(new byte[1000]);
    }
    assertFalse(Files.exists(path));
    try (var left = Files.list(folder)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void waitingForARankThatNeverArrives() {
    try (Store store = Store.hash()) {
      assertThrows(TandemTimeoutException.class, () -> store.waitFor(List.of("never"), Duration.ofMillis(50)));
      ProcessGroup.Options options =
          new ProcessGroup.Options().store(store).rank(0).worldSize(2).timeout(Duration.ofMillis(500));
      assertMessage(assertThrows(TandemTimeoutException.class, () -> ProcessGroup.init(options).close()), "1");
    }
  }

  @Test
  void aMissingRankIsNamed() {
    TandemInvalidArgumentException error =
        assertThrows(TandemInvalidArgumentException.class, () -> ProcessGroup.init().close());
    assertMessage(error, "RANK");
  }

  @Test
  void aScopeBelongsToItsThread() throws InterruptedException {
    try (Scope scope = Scope.open()) {
      Throwable[] thrown = new Throwable[1];
      Thread other = new Thread(scope::close);
      other.setUncaughtExceptionHandler((thread, error) -> thrown[0] = error);
      other.start();
      other.join();
      assertInstanceOf(TandemInvalidArgumentException.class, thrown[0]);
    }
  }

  @Test
  void aMissingLibrarySaysWhereItWasLookedFor() throws Exception {
    Child child = Child.start(List.of("-Dorg.tandem.library=" + folder.resolve("nowhere")), Programs.class, "version");
    child.expect(1);
    assertTrue(child.output().contains("TandemLibraryException"), child.output());
    assertTrue(child.output().contains("libtandem_jni.so") || child.output().contains("nowhere"), child.output());
  }

  @Test
  void aRelativePathToTheLibraryIsRefused() throws Exception {
    Child child = Child.start(List.of("-Dorg.tandem.library=lib/libtandem_jni.so"), Programs.class, "version");
    child.expect(1);
    assertTrue(child.output().contains("org.tandem.library is 'lib/libtandem_jni.so', a relative path"), child.output());
  }

  @Test
  void aFolderWithoutLibTorchIsNamed() throws Exception {
    Child child = Child.start(List.of(), Programs.class, "load", folder.toString());
    child.expect(1);
    assertTrue(child.output().contains(folder.toString()), child.output());
    assertTrue(child.output().contains("TandemLibraryException"), child.output());
  }
}
