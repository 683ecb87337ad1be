package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.ReduceOp;
import org.tandem.dist.Store;

/** Works that the program starts and drops. */
@Timeout(240)
class DroppedWorkTest {
  private static final long WAIT_SECONDS = 60;

  private static ProcessGroup join(Store store, int rank) {
    return ProcessGroup.init(
        new ProcessGroup.Options().store(store).rank(rank).worldSize(2).timeout(Duration.ofMinutes(30)));
  }

  private static void drop(ProcessGroup group, Tensor tensor) {
    group.allReduceAsync(tensor, ReduceOp.SUM);
  }

  private static void dropTensors(int count) {
    for (int i = 0; i < count; i++) {
      Tensor.scalar(i);
    }
  }

  @Test
  void theCollectorFreesAllElseWhileAWorkWaitsForARank() throws Exception {
    long works = Tandem.liveCount("work");
    CountDownLatch checked = new CountDownLatch(1);
    ExecutorService other = Executors.newSingleThreadExecutor();
    try (Store store = Store.hash(); Tensor tensor = Tensor.scalar(1); Tensor own = Tensor.scalar(2)) {
      Future<Double> sum = other.submit(() -> {
        try (ProcessGroup group = join(store, 1)) {
          checked.await();
          group.allReduce(own);
          return own.item();
        }
      });
      try (ProcessGroup group = join(store, 0)) {
        drop(group, tensor);
        assertEquals(works + 1, Tandem.liveCount("work"));
        long tensors = Tandem.liveCount("tensor");
        for (int round = 0; round < 3; round++) { // the first may be before the collector sees the work
          dropTensors(100);
          Garbage.collectUntil(() -> Tandem.liveCount("tensor") <= tensors, "tensors wait for a work that nobody has");
          assertEquals(works + 1, Tandem.liveCount("work"), "a work goes when its collective is done");
        }
        checked.countDown();
        assertEquals(3.0, sum.get(WAIT_SECONDS, TimeUnit.SECONDS));
        Garbage.collectUntil(() -> Tandem.liveCount("work") == works, "the work that is done was not freed");
      }
    } finally {
      other.shutdownNow();
    }
    Garbage.collectUntil(() -> Thread.getAllStackTraces().keySet().stream().noneMatch(
                     thread -> thread.getName().equals("tandem-dropped-works")), "its thread did not end");
  }

  @Test
  void aProgramThatDroppedAWorkEnds() throws Exception {
    Child child = Child.start(java.util.List.of(), Programs.class, "end-with-a-dropped-work");
    child.expect(0);
    assertEquals("leaving", child.output().strip());
  }
}
