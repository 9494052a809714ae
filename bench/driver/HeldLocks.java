import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Locks that a client holds, each at a path of its own. Who has acquired one releases it: threads stay. */
final class HeldLocks {
    /** As the other drivers. */
    private static final int THREADS = 16;

    private interface Work {
        void on(int number) throws Exception;
    }

    private final CuratorFramework client;
    private final String below;
    private final InterProcessMutex[] locks;
    private final List<ExecutorService> threads = new ArrayList<>();
    private double holdSeconds;
    private double letGoSeconds;
    private long memory;

    HeldLocks(CuratorFramework client, String below, int count) throws Exception {
        this.client = client;
        this.below = below;
        locks = new InterProcessMutex[count];
        for (int i = 0; i < Math.min(count, THREADS); ++i) {
            threads.add(Executors.newSingleThreadExecutor(work -> {
                var thread = new Thread(work);
                thread.setDaemon(true);
                return thread;
            }));
        }
        // The locks' parents are persistent nodes: the servers would remove containers before some
        // rounds and not before others.
        share(i -> client.create().orSetData().creatingParentContainersIfNeeded().forPath(path(i)));
    }

    void acquire() throws Exception {
        long before = used();
        holdSeconds = share(i -> {
            locks[i] = new InterProcessMutex(client, path(i));
            locks[i].acquire();
        });
        memory = used() - before;
    }

    void release() throws Exception {
        letGoSeconds = share(i -> {
            locks[i].release();
            locks[i] = null;
        });
    }

    private String path(int number) {
        return below + "/" + number;
    }

    private double share(Work work) throws InterruptedException, ExecutionException {
        long begin = System.nanoTime();
        var running = new ArrayList<Future<?>>();
        for (int first = 0; first < threads.size(); ++first) {
            int from = first;
            Callable<Void> part = () -> {
                for (int i = from; i < locks.length; i += THREADS) {
                    work.on(i);
                }
                return null;
            };
            running.add(threads.get(first).submit(part));
        }
        for (Future<?> part : running) {
            part.get();
        }
        return (System.nanoTime() - begin) / 1e9;
    }

    /** Of the heap, by what can be reached. */
    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** As a part of a result. */
    @Override
    public String toString() {
        return ",\"locks\":" + locks.length + ",\"hold_seconds\":" + holdSeconds
                + ",\"let_go_seconds\":" + letGoSeconds + ",\"memory_bytes\":" + memory;
    }
}
