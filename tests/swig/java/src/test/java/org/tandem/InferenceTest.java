package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.internal.NativeHandle;
import org.tandem.nn.BatchNorm2d;
import org.tandem.nn.Conv2d;
import org.tandem.nn.Dropout;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.Sequential;

/** One model, many threads that ask it. */
@Timeout(240)
class InferenceTest {
  private static final int THREADS = 16;
  private static final int REQUESTS = 40;

  private static Module net() {
    return new Sequential(new Conv2d(1, 4, 3), new BatchNorm2d(4), Sequential.step(Tensor::relu), new Dropout(0.5),
        Sequential.step(x -> x.flatten(1)), new Linear(4 * 6 * 6, 5));
  }

  private static float[] answer(Module model, float[] request) {
    try (Tandem.NoGrad off = Tandem.noGrad(); Scope scope = Scope.open()) {
      return model.forward(Tensor.of(request, 1, 1, 8, 8)).softmax(1).flatten(0).toFloatArray();
    }
  }

  private static float[] request(int number) {
    float[] pixels = new float[64];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = (float) Math.sin(number * 64 + i);
    }
    return pixels;
  }

  @Test
  void threadsShareAModel() throws Exception {
    long before = Tandem.liveCount("tensor");
    try (Module model = net().eval()) {
      List<float[]> alone = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        alone.add(answer(model, request(i)));
      }
      long loaded = Tandem.liveCount("tensor");
      ExecutorService threads = Executors.newFixedThreadPool(THREADS);
      try {
        List<Future<?>> running = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
          int first = thread;
          running.add(threads.submit(() -> {
            for (int i = 0; i < REQUESTS; i++) {
              int number = (first + i) % REQUESTS;
              assertArrayEquals(alone.get(number), answer(model, request(number)), 1e-6f);
            }
          }));
        }
        for (Future<?> one : running) {
          one.get(200, TimeUnit.SECONDS);
        }
      } finally {
        threads.shutdownNow();
      }
      assertEquals(loaded, Tandem.liveCount("tensor"));
    }
    assertEquals(before, Tandem.liveCount("tensor"));
  }

  @Test
  void aDroppedNoGradIsReported() throws InterruptedException {
    long leaked = NativeHandle.leaked();
    Tandem.noGrad(() -> 1);
    assertTrue(records());
    CountDownLatch dropped = new CountDownLatch(1);
    CountDownLatch reported = new CountDownLatch(1);
    boolean[] recordsStill = {true};
    Thread dropper = new Thread(() -> {
      Tandem.noGrad();
      dropped.countDown();
      try {
        reported.await();
      } catch (InterruptedException ended) {
        return;
      }
      recordsStill[0] = records();
    });
    dropper.start();
    dropped.await();
    Garbage.collectUntil(() -> NativeHandle.leaked() > leaked, "a dropped mode is not reported");
    reported.countDown();
    dropper.join();
    assertFalse(recordsStill[0]);
    assertEquals(leaked + 1, NativeHandle.leaked());
    assertTrue(records());
  }

  /** Whether this thread records. */
  private static boolean records() {
    try (Tensor leaf = Tensor.scalar(1).requiresGrad(true); Tensor result = leaf.mul(2)) {
      return result.requiresGrad();
    }
  }

  @Test
  void noGradEndsThoseThatWereMadeAfterIt() {
    long open = Tandem.liveCount("mode");
    Tandem.NoGrad outer = Tandem.noGrad();
    Tandem.NoGrad inner = Tandem.noGrad();
    outer.close();
    assertTrue(records());
    inner.close();
    assertTrue(records());
    assertEquals(open, Tandem.liveCount("mode"));
  }

  @Test
  void noGradEndsOnceAndOnItsThread() throws Exception {
    try (Tensor leaf = Tensor.scalar(1).requiresGrad(true)) {
      Tandem.NoGrad outer = Tandem.noGrad();
      Tandem.NoGrad inner = Tandem.noGrad();
      inner.close();
      Throwable[] thrown = new Throwable[1];
      Thread other = new Thread(outer::close);
      other.setUncaughtExceptionHandler((thread, error) -> thrown[0] = error);
      other.start();
      other.join();
      assertTrue(thrown[0] instanceof TandemInvalidArgumentException, () -> String.valueOf(thrown[0]));
      outer.close();
      inner.close(); // again: it would switch it off
      try (Tensor result = leaf.mul(2)) {
        assertTrue(result.requiresGrad());
      }
      try (Tandem.NoGrad off = Tandem.noGrad(); Tensor result = leaf.mul(2)) {
        assertFalse(result.requiresGrad());
      }
    }
  }
}
