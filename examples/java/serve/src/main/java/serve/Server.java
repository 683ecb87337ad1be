package serve;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.tandem.TandemException;
import org.tandem.TandemTimeoutException;

/** Reads requests and writes replies; the batcher computes. */
final class Server {
  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int NOT_FOUND = 404;
  private static final int METHOD_NOT_ALLOWED = 405;
  private static final int TOO_LARGE = 413;
  private static final int FAILED = 500;
  private static final int UNAVAILABLE = 503;
  private static final long GRACE_SECONDS = 30; // for requests that are under way once it is told to stop

  private final Model model;
  private final Batcher batcher;
  private final HttpServer http;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final int most;
  private final int bytes;
  private final Semaphore room; // a permit for each request that may be under way
  private volatile boolean stopping;

  private record Reply(int status, String text) {}

  /** Refuses requests while {@code most} are under way, so that their memory is bounded. */
  Server(Model model, Batcher batcher, InetSocketAddress address, int most, int bytes) throws IOException {
    this.model = model;
    this.batcher = batcher;
    this.most = most;
    this.bytes = bytes;
    room = new Semaphore(most);
    System.setProperty("sun.net.httpserver.maxReqTime", "60"); // seconds that a client may take to send its request
    http = HttpServer.create(address, 0);
    http.setExecutor(threads);
    http.createContext("/predict", exchange -> answer(exchange, "POST", "/predict"));
    http.createContext("/statistics", exchange -> answer(exchange, "GET", "/statistics"));
  }

  String address() {
    return http.getAddress().getAddress().getHostAddress() + ":" + http.getAddress().getPort();
  }

  void start() {
    http.start();
  }

  /**
   * Refuses new requests, and waits for those that are under way.
   *
   * @throws TandemTimeoutException they took too long
   */
  void stop() throws InterruptedException {
    stopping = true;
    boolean answered = room.tryAcquire(most, GRACE_SECONDS, TimeUnit.SECONDS);
    http.stop(0);
    threads.shutdownNow();
    if (!answered) {
      throw new TandemTimeoutException("serve", "requests were still under way after " + GRACE_SECONDS + " s");
    }
  }

  private void answer(HttpExchange exchange, String method, String path) throws IOException {
    if (stopping) {
      send(exchange, new Reply(UNAVAILABLE, "the server stops"));
      return;
    }
    if (!room.tryAcquire()) {
      send(exchange, new Reply(UNAVAILABLE, most + " requests are under way; try again later"));
      return;
    }
    try {
      Reply reply;
      if (!exchange.getRequestURI().getPath().equals(path)) {
        reply = new Reply(NOT_FOUND, "there is no such page");
      } else if (!exchange.getRequestMethod().equals(method)) {
        reply = new Reply(METHOD_NOT_ALLOWED, path + " takes " + method);
      } else {
        reply = method.equals("POST") ? predict(exchange) : new Reply(OK, batcher.statistics());
      }
      send(exchange, reply);
    } finally {
      room.release();
    }
  }

  private Reply predict(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readNBytes(bytes + 1);
    if (body.length > bytes) {
      return new Reply(TOO_LARGE, "a request has at most " + bytes + " bytes");
    }
    try {
      Rows rows = Json.read(new String(body, StandardCharsets.UTF_8), model.shape(), model.row());
      if (rows.count() > model.most()) {
        return new Reply(BAD_REQUEST, "the request has " + rows.count() + " rows; send at most " + model.most());
      }
      return new Reply(OK, batcher.predict(rows).get());
    } catch (IllegalArgumentException wrong) {
      return new Reply(BAD_REQUEST, wrong.getMessage());
    } catch (ExecutionException failed) {
      boolean refused = failed.getCause() instanceof TandemException;
      return new Reply(refused ? BAD_REQUEST : FAILED, String.valueOf(failed.getCause().getMessage()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return new Reply(UNAVAILABLE, "the server stops");
    }
  }

  private static void send(HttpExchange exchange, Reply reply) throws IOException {
    byte[] text = (reply.text + "\n").getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", reply.status == OK ? "application/json" : "text/plain; charset=utf-8");
    try (exchange; OutputStream out = exchange.getResponseBody()) {
      exchange.sendResponseHeaders(reply.status, text.length);
      out.write(text);
    }
  }
}
