package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tandem.internal.NativeHandle;
import org.tandem.dist.Store;
import org.tandem.nn.Linear;
import org.tandem.optim.Adam;

class MemoryTest {
  @Test
  void scopesFreeWhatTheyMadeAndKeepWhatIsKept() {
    Tensor kept;
    Tensor inner;
    long before = Tandem.liveCount("tensor");
    try (Scope outer = Scope.open()) {
      Tensor made = Tensor.scalar(1);
      try (Scope nested = Scope.open()) {
        Tensor a = made.add(1);
        kept = nested.keep(a.add(1));
        inner = a;
      }
      assertTrue(inner.isClosed());
      assertFalse(kept.isClosed());
      outer.keep(kept);
      made.close();
    }
    assertEquals(3, kept.item());
    assertEquals(before + 1, Tandem.liveCount("tensor"));
    kept.close();
    assertEquals(before, Tandem.liveCount("tensor"));
  }

  @Test
  void anOuterScopeClosesInnerOnesThatWereForgotten() {
    Tensor inner;
    Scope forgotten;
    try (Scope outer = Scope.open()) {
      forgotten = Scope.open();
      inner = Tensor.scalar(1);
    }
    assertTrue(inner.isClosed());
    forgotten.close();
  }

  @Test
  void parametersGradientsAndOptimizerStateSurviveScopes() {
    try (Linear linear = newInScope()) {
      Adam adam;
      try (Scope scope = Scope.open()) {
        adam = new Adam(linear.parameters(), 0.1);
      }
      double first = 0;
      double last = 0;
      for (int i = 0; i < 50; i++) {
        try (Scope scope = Scope.open()) {
          Tensor loss = linear.forward(Tensor.ones(DType.FLOAT32, 4, 3)).sub(1).pow(2).mean();
          adam.zeroGrad();
          loss.backward();
          adam.step();
          last = loss.item();
          first = i == 0 ? last : first;
        }
      }
      assertTrue(last < first / 10, first + " to " + last);
      assertEquals(2, linear.parameters().size());
      assertEquals(List.of(2L, 3L), java.util.Arrays.stream(linear.parameters().get(0).sizes()).boxed().toList());
      adam.close();
    }
  }

  private static Linear newInScope() {
    try (Scope scope = Scope.open()) {
      return new Linear(3, 2);
    }
  }

  @Test
  void theCollectorFreesTensorsThatNobodyClosed() throws InterruptedException {
    long before = Tandem.liveCount("tensor");
    for (int i = 0; i < 100; i++) {
      Tensor.scalar(i);
    }
    for (int i = 0; i < 100 && Tandem.liveCount("tensor") > before; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertTrue(Tandem.liveCount("tensor") <= before);
  }

  @Test
  void nativeBytesCallTheCollector() throws Exception {
    Child child = Child.start(List.of("-Xmx64m"), Programs.class, "train-without-scopes");
    child.expect(0);
    long most = Long.parseLong(child.output().strip().replaceAll("(?s).*most ", ""));
    assertTrue(most < 1024, most + " MiB stayed alive");
  }

  @Test
  void storesAreReportedInsteadOfCollected() throws InterruptedException {
    long leaked = NativeHandle.leaked();
    long before = Tandem.liveCount("store");
    leakAStore();
    for (int i = 0; i < 100 && NativeHandle.leaked() == leaked; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertEquals(leaked + 1, NativeHandle.leaked());
    assertEquals(before + 1, Tandem.liveCount("store"));
  }

  private static void leakAStore() {
    assertThrows(TandemTimeoutException.class,
        () -> Store.hash().waitFor(List.of("x"), java.time.Duration.ofMillis(1)));
  }

  @Test
  void aProgramThatEndsWhileThreadsComputeEndsCleanly() throws Exception {
    for (int i = 0; i < 3; i++) {
      Child child = Child.start(List.of(), Programs.class, "end-while-computing");
      child.expect(0);
      assertEquals("leaving", child.output().strip());
    }
  }

  @Test
  void aProgramThatEndsWhileAThreadWaitsEndsCleanly() throws Exception {
    Child child = Child.start(List.of(), Programs.class, "end-while-waiting");
    child.expect(0);
    assertEquals("leaving", child.output().strip());
  }
}
