package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.dist.Store;
import org.tandem.rpc.AutogradContext;
import org.tandem.rpc.RRef;
import org.tandem.rpc.Rpc;

/** Calls with tensors of a GPU, which two workers share. */
@Timeout(180)
class RpcGpuTest {
  private static final Device GPU = Device.cuda(0);
  private static final int SIZE = 1 << 20;

  @Test
  void tensorsStayOnTheGpu(@TempDir Path folder) throws Exception {
    assumeTrue(Tandem.cudaDeviceCount() > 0, "needs a GPU");
    List<Child> children = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      children.add(Child.start(List.of(), Programs.class, "rpc-gpu", folder.resolve("store").toString(), Integer.toString(rank)));
    }
    for (Child child : children) {
      child.expect(0);
    }
  }

  static void worker(Path file, int rank) {
    Tensor weight = Tensor.of(new double[] {2, 3}).to(GPU).requiresGrad(true);
    Rpc.register("twice", given -> ((Tensor) given[0]).mul(2));
    Rpc.register("scaled", given -> ((Tensor) given[0]).mul(weight));
    Rpc.register("where", given -> ((Tensor) given[0]).device().toString());
    try (Store store = Store.file(file, 2)) {
      Rpc.init(new Rpc.Options().store(store).rank(rank).worldSize(2).deviceMap("worker" + (1 - rank), GPU, GPU));
    }
    if (rank == 0) {
      Tensor x = Tensor.of(new double[SIZE]).to(GPU).add(1);
      for (int i = 1; i <= 10; i++) {
        x = (Tensor) Rpc.call("worker1", "twice", x);
        assertEquals(GPU, x.device());
        assertEquals(SIZE * Math.pow(2, i), x.sum().item());
      }
      assertEquals("cuda:0", Rpc.call("worker1", "where", x));
      assertEquals("cpu", Rpc.call("worker1", "where", Tensor.of(new double[] {1})));
      try (RRef there = Rpc.remote("worker1", "twice", x)) {
        assertEquals(GPU, ((Tensor) there.toHere()).device());
      }
      try (AutogradContext pass = new AutogradContext()) {
        Tensor given = Tensor.of(new double[] {1, 10}).to(GPU).requiresGrad(true);
        pass.backward(((Tensor) Rpc.call("worker1", "scaled", given)).sum());
        Tensor gradient = pass.gradients(given)[0];
        assertEquals(GPU, gradient.device());
        assertArrayEquals(new double[] {2, 3}, gradient.to(Device.CPU).toDoubleArray());
      }
      Tensor refused = x;
      TandemException unmapped =
          assertThrows(TandemInvalidArgumentException.class, () -> Rpc.call("worker0", "twice", refused));
      assertTrue(unmapped.getMessage().contains("cuda:0"), unmapped.getMessage());
    }
    Rpc.shutdown();
  }
}
