package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.internal.NativeHandle;

/** Scopes that end otherwise than by their own thread's close(). */
@Timeout(240)
class ScopeTest {
  @BeforeEach
  void theTestsBeforeLeftNothing() throws InterruptedException {
    Garbage.collectUntil(() -> Tandem.liveCount("tensor") == 0, "tensors of another test");
  }

  private static Tensor openAndDrop(int tensors) {
    Scope.open();
    for (int i = 1; i < tensors; i++) {
      Tensor.scalar(i);
    }
    return Tensor.scalar(tensors);
  }

  private static void inThread(Runnable body) throws InterruptedException {
    Thread thread = new Thread(body, "a-thread-with-scopes");
    thread.start();
    thread.join();
  }

  @Test
  void aDroppedScopeIsReportedAndItsTensorsGoWithTheCollector() throws InterruptedException {
    long leaked = NativeHandle.leaked();
    long before = Tandem.liveCount("tensor");
    Tensor used = openAndDrop(10);
    Garbage.collectUntil(() -> Tandem.liveCount("tensor") <= before + 1, "the tensors of a dropped scope stay");
    assertEquals(leaked + 1, NativeHandle.leaked());
    assertEquals(10, used.item(), "a tensor that is in use is not taken away");
    try (Tensor later = Tensor.scalar(3)) { // belongs to no scope
      assertEquals(3, later.item());
    }
    used.close();
    assertEquals(before, Tandem.liveCount("tensor"));
    assertEquals(leaked + 1, NativeHandle.leaked());
  }

  @Test
  void theScopeAroundADroppedOneGoesOn() throws InterruptedException {
    long leaked = NativeHandle.leaked();
    Tensor mine;
    try (Scope outer = Scope.open()) {
      Tensor used = openAndDrop(3);
      Garbage.collectUntil(() -> NativeHandle.leaked() == leaked + 1, "a dropped scope is not reported");
      mine = Tensor.scalar(1);
      assertFalse(used.isClosed());
      used.close();
    }
    assertTrue(mine.isClosed());
  }

  @Test
  void theScopesOfAThreadThatEndedGoWithTheCollector() throws InterruptedException {
    long leaked = NativeHandle.leaked();
    long before = Tandem.liveCount("tensor");
    AtomicReference<Scope> open = new AtomicReference<>();
    AtomicReference<Tensor> used = new AtomicReference<>();
    inThread(() -> {
      open.set(Scope.open());
      for (int i = 0; i < 10; i++) {
        used.set(Tensor.scalar(i));
      }
    });
    Garbage.collectUntil(() -> Tandem.liveCount("tensor") <= before + 1, "the tensors of a thread that ended stay");
    assertEquals(leaked + 1, NativeHandle.leaked());
    assertEquals(9, used.get().item());
    open.get().close();
    assertFalse(used.get().isClosed());
    used.get().close();
    assertEquals(before, Tandem.liveCount("tensor"));
  }

  @Test
  void aScopeWhoseThreadEndedCanBeClosed() throws InterruptedException {
    long before = Tandem.liveCount("tensor");
    AtomicReference<Scope> open = new AtomicReference<>();
    AtomicReference<Tensor> made = new AtomicReference<>();
    inThread(() -> {
      open.set(Scope.open());
      made.set(Tensor.scalar(1));
    });
    open.get().close();
    Garbage.collectUntil(() -> Tandem.liveCount("tensor") <= before || made.get() == null, "it stays");
    made.get().close();
    assertEquals(before, Tandem.liveCount("tensor"));
  }

  @Test
  void theReportNamesThreadAndPlace() throws Exception {
    Child child = Child.start(List.of("-Dorg.tandem.traceScopes=true"), Programs.class, "drop-a-scope");
    child.expect(0);
    String output = child.output();
    assertTrue(output.contains("a Scope that thread 'main' opened at "), output);
    assertTrue(output.contains("org.tandem.Programs.dropAScope(Programs.java:"), output);
    assertTrue(output.contains("its 1 tensors"), output);
    assertTrue(output.contains("left 0"), output);
  }

  @Test
  void tensorsKeptByAnotherThreadOutliveTheScope() throws InterruptedException {
    AtomicReference<Tensor> kept = new AtomicReference<>();
    Tensor outer;
    try (Scope around = Scope.open()) {
      try (Scope scope = Scope.open()) {
        for (int i = 0; i < 200; i++) {
          Tensor tensor = Tensor.scalar(i);
          CountDownLatch started = new CountDownLatch(1);
          Thread keeper = new Thread(() -> {
            started.countDown();
            scope.keep(tensor);
          });
          keeper.start();
          started.await();
          Tensor.scalar(i); // into the scope's list, at the same time
          keeper.join();
          kept.set(tensor);
        }
      }
      outer = kept.get();
      assertEquals(199, outer.item());
    }
    assertTrue(outer.isClosed());
  }

  @Test
  void aCallbackCannotCloseTheScopeAroundTheCallThatLedToIt() {
    try (Scope scope = Scope.open(); Dataset closing = Dataset.of(new OwnSamples.Squares(2) {
      @Override
      public Tensor[] get(long index) throws Exception {
        scope.close();
        return super.get(index);
      }
    }, "i", "square"); Loader loader = new Loader(closing, new Loader.Options().batchSize(2).threads(0))) {
      TandemException error = assertThrows(TandemException.class, () -> loader.epoch(0).iterator().next());
      assertTrue(error.getMessage().contains("a callback cannot close"), error.getMessage());
    }
  }
}
