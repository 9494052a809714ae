import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;

/** Threads that wait at one barrier, which is opened, again and again: as releasing.cpp. */
final class Releasing {
    /** How long all waiters have to begin their waits. Nothing shows from outside that they have. */
    private static final long TO_ARRIVE_MS = 200;

    private final List<DistributedBarrier> gates = new ArrayList<>();
    private final ExecutorService threads;
    private final List<Long> times = new ArrayList<>();
    private final List<Long> lastTimes = new ArrayList<>();
    private long early;

    Releasing(List<CuratorFramework> clients, String path, int waiters) {
        for (int i = 0; i < waiters; ++i) {
            gates.add(new DistributedBarrier(clients.get(i % clients.size()), path));
        }
        threads = Executors.newFixedThreadPool(waiters, work -> {
            var thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
        });
    }

    void run(long deadline) throws Exception {
        do {
            releaseOnce();
        } while (System.nanoTime() < deadline);
    }

    private void releaseOnce() throws Exception {
        gates.get(0).setBarrier();
        var waiters = new ArrayList<Future<Long>>();
        for (DistributedBarrier gate : gates) {
            waiters.add(threads.submit(() -> {
                gate.waitOnBarrier();
                return System.nanoTime();
            }));
        }
        Thread.sleep(TO_ARRIVE_MS);
        long opened = System.nanoTime();
        gates.get(0).removeBarrier();
        long last = 0;
        for (Future<Long> waiter : waiters) {
            long time = waiter.get() - opened;
            if (time < 0) {
                ++early;
            }
            times.add(Math.max(time, 0));
            last = Math.max(last, time);
        }
        lastTimes.add(last);
    }

    void end() {
        threads.shutdown();
    }

    List<Long> times() {
        return times;
    }

    List<Long> lastTimes() {
        return lastTimes;
    }

    long early() {
        return early;
    }
}
