import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.retry.RetryNTimes;

/** Threads that add to a number, each as fast as it can. */
final class Counting {
    private final DistributedAtomicLong number;
    private final int threads;
    private final long before;
    private final List<List<Long>> times = new ArrayList<>();

    Counting(CuratorFramework client, String path, int threads) throws Exception {
        // A pause of a millisecond: without one the threads only get in each other's way more often.
        number = new DistributedAtomicLong(client, path, new RetryNTimes(1000, 1));
        this.threads = threads;
        add();
        before = number.get().postValue();
    }

    private void add() throws Exception {
        if (!number.increment().succeeded()) {
            throw new IllegalStateException("an addition has not succeeded");
        }
    }

    void run(long deadline) throws Exception {
        if (threads == 1) {
            times.add(addUntil(deadline));
            return;
        }
        var pool = Executors.newFixedThreadPool(threads);
        var running = new ArrayList<Future<List<Long>>>();
        for (int i = 0; i < threads; ++i) {
            running.add(pool.submit(() -> addUntil(deadline)));
        }
        for (Future<List<Long>> thread : running) {
            times.add(thread.get());
        }
        pool.shutdown();
    }

    private List<Long> addUntil(long deadline) throws Exception {
        var mine = new ArrayList<Long>(1 << 16);
        for (long begin = System.nanoTime(); begin < deadline; ) {
            add();
            long end = System.nanoTime();
            mine.add(end - begin);
            begin = end;
        }
        return mine;
    }

    List<List<Long>> times() {
        return times;
    }

    long count() {
        return times.stream().mapToLong(List::size).sum();
    }

    /** By how much the number is off. */
    long error() throws Exception {
        return Math.abs(number.get().postValue() - before - count());
    }
}
