import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;

/**
 * Apache Curator's locks, driven by the words of driver.hpp: CuratorDriver SERVERS [CA], the latter
 * the file of the authority that the servers' certificates lead to, if they speak TLS.
 */
public final class CuratorDriver {
    public static void main(String[] arguments) throws IOException {
        if (arguments.length > 1) {
            System.setProperty("zookeeper.client.secure", "true");
            System.setProperty("zookeeper.clientCnxnSocket",
                    "org.apache.zookeeper.ClientCnxnSocketNetty");
            System.setProperty("zookeeper.ssl.trustStore.location", arguments[1]);
            System.setProperty("zookeeper.ssl.trustStore.type", "PEM");
        }
        var sessions = new HashMap<String, Session>();
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            String[] words = line.split(" ");
            sessions.computeIfAbsent(words[0], name -> new Session(name, arguments[0]))
                    .commands.add(words);
        }
        // The test has ended, or ends this process.
        Runtime.getRuntime().halt(0);
    }

    /** A client with a thread of its own, for Curator's locks belong to threads. */
    private static final class Session implements Runnable {
        final BlockingQueue<String[]> commands = new LinkedBlockingQueue<>();
        private final String name;
        private final String servers;
        private final Map<String, InterProcessLock> locks = new HashMap<>();
        private final Map<String, InterProcessReadWriteLock> readWriteLocks = new HashMap<>();
        private final BlockingQueue<String> revocations = new LinkedBlockingQueue<>();
        private final Map<String, DistributedDoubleBarrier> doubleBarriers = new HashMap<>();
        private CuratorFramework client;

        Session(String name, String servers) {
            this.name = name;
            this.servers = servers;
            new Thread(this, name).start();
        }

        @Override
        public void run() {
            for (;;) {
                try {
                    String answer = obey(commands.take());
                    say(name + " ok " + answer);
                } catch (Exception error) {
                    say(name + " error " + error);
                }
            }
        }

        private String obey(String[] words) throws Exception {
            switch (words[1]) {
                case "connect":
                    return connect(Integer.parseInt(words[2]));
                case "acquire":
                    lock(words[2], words[3]).acquire();
                    return "";
                case "try":
                    return lock(words[2], words[3]).acquire(0, TimeUnit.MILLISECONDS) ? "yes" : "no";
                case "release":
                    lock(words[2], words[3]).release();
                    return "";
                case "acquire-revocable":
                    var mutex = (InterProcessMutex) lock(words[2], words[3]);
                    mutex.makeRevocable(asked -> revocations.add(words[3]));
                    mutex.acquire();
                    return "";
                case "await-revocation":
                    revocations.take();
                    return "";
                case "revoke":
                    Revoker.attemptRevoke(client, holder(lock(words[2], words[3]), words[3]));
                    return "";
                case "increment":
                    for (int i = Integer.parseInt(words[4]); i > 0; --i) {
                        increment(words[2], words[3], Path.of(words[5]), words[6]);
                    }
                    return "";
                case "visit":
                    var semaphore = new InterProcessSemaphoreV2(
                            client, words[3], Integer.parseInt(words[2]));
                    for (int i = Integer.parseInt(words[4]); i > 0; --i) {
                        visit(semaphore, words[3], Path.of(words[5]), words[6]);
                    }
                    return "";
                case "lead":
                    return lead(words[2], words[3]);
                case "count":
                    count(words[2], Integer.parseInt(words[3]));
                    return "";
                case "add":
                    add(words[2], words[3], Integer.parseInt(words[4]));
                    return "";
                case "tally":
                    return tally(words[3], Integer.parseInt(words[4]));
                case "await-count":
                    awaitCount(words[2], Integer.parseInt(words[3]));
                    return "";
                case "set-barrier":
                    new DistributedBarrier(client, words[2]).setBarrier();
                    return "";
                case "remove-barrier":
                    new DistributedBarrier(client, words[2]).removeBarrier();
                    return "";
                case "await-barrier":
                    new DistributedBarrier(client, words[2]).waitOnBarrier();
                    return "";
                case "enter":
                    doubleBarrier(words[2], Integer.parseInt(words[3])).enter();
                    return "";
                case "leave":
                    doubleBarrier(words[2], Integer.parseInt(words[3])).leave();
                    return "";
                case "attend":
                    attend(doubleBarrier(words[2], Integer.parseInt(words[3])), Path.of(words[4]));
                    return "";
                default:
                    throw new IllegalArgumentException(words[1]);
            }
        }

        private static void attend(DistributedDoubleBarrier barrier, Path diary) throws Exception {
            for (;;) {
                note(diary, "comes");
                barrier.enter();
                note(diary, "in");
                note(diary, "leaves");
                barrier.leave();
                note(diary, "out");
            }
        }

        private static void note(Path diary, String what) throws IOException {
            Files.writeString(diary, what + " " + System.nanoTime() + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }

        private DistributedDoubleBarrier doubleBarrier(String path, int members) {
            return doubleBarriers.computeIfAbsent(
                    path, key -> new DistributedDoubleBarrier(client, key, members));
        }

        private String connect(int timeout) throws Exception {
            client = CuratorFrameworkFactory.newClient(
                    servers, timeout, 10_000, new ExponentialBackoffRetry(100, 10));
            client.start();
            client.blockUntilConnected();
            return Long.toString(client.getZookeeperClient().getZooKeeper().getSessionId());
        }

        private InterProcessLock lock(String kind, String path) {
            return locks.computeIfAbsent(kind + " " + path, key -> makeLock(kind, path));
        }

        private InterProcessLock makeLock(String kind, String path) {
            switch (kind) {
                case "mutex":
                    return new InterProcessMutex(client, path);
                case "read":
                    return readWriteLock(path).readLock();
                case "write":
                    return readWriteLock(path).writeLock();
                case "semaphore-mutex":
                    return new InterProcessSemaphoreMutex(client, path);
                default:
                    String[] numbers = kind.split("-of-");
                    return new Permits(
                            new InterProcessSemaphoreV2(client, path, Integer.parseInt(numbers[1])),
                            Integer.parseInt(numbers[0]));
            }
        }

        private InterProcessReadWriteLock readWriteLock(String path) {
            return readWriteLocks.computeIfAbsent(
                    path, p -> new InterProcessReadWriteLock(client, p));
        }

        private void increment(String kind, String path, Path directory, String number)
                throws Exception {
            InterProcessLock lock = lock(kind, path);
            lock.acquire();
            try {
                long in = System.nanoTime();
                Path counter = directory.resolve("counter");
                long value = Long.parseLong(Files.readString(counter).strip());
                Files.writeString(counter, value + 1 + "\n");
                writeDown(directory, number, holder(lock, path), in);
            } finally {
                lock.release();
            }
        }

        private void visit(InterProcessSemaphoreV2 semaphore, String path, Path directory,
                String number) throws Exception {
            Lease permit = semaphore.acquire();
            try {
                long in = System.nanoTime();
                Thread.sleep(1);
                writeDown(directory, number, path + "/leases/" + permit.getNodeName(), in);
            } finally {
                semaphore.returnLease(permit);
            }
        }

        /** The first node, the lock's holder's: which should be ours. */
        private String holder(InterProcessLock lock, String path) throws Exception {
            if (lock instanceof InterProcessMutex) {
                return ((InterProcessMutex) lock).getParticipantNodes().iterator().next();
            }
            // A semaphore mutex of Curator does not tell which lease it has.
            String leases = path + "/leases";
            return leases + "/" + first(leases);
        }

        /** The name of the child with the lowest number. */
        private String first(String path) throws Exception {
            return Collections.min(client.getChildren().forPath(path),
                    Comparator.comparing(child -> child.substring(child.length() - 10)));
        }

        /** Appends a hold that ends now. */
        private void writeDown(Path directory, String number, String node, long in)
                throws Exception {
            long token = client.checkExists().forPath(node).getCzxid();
            String hold = String.join(" ", number, Long.toString(token), node, Long.toString(in),
                    Long.toString(System.nanoTime())) + "\n";
            Files.writeString(directory.resolve("history"), hold, StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }

        /** Until it is killed. */
        private String lead(String kind, String path) throws Exception {
            if (kind.equals("latch")) {
                var latch = new LeaderLatch(client, path, name);
                latch.start();
                latch.await();
            } else {
                var chosen = new LinkedBlockingQueue<Boolean>();
                var selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
                    @Override
                    public void takeLeadership(CuratorFramework framework) throws Exception {
                        chosen.add(true);
                        Thread.sleep(Long.MAX_VALUE);
                    }
                });
                selector.setId(name);
                selector.start();
                chosen.take();
            }
            long now = System.nanoTime();
            long token = client.checkExists().forPath(path + "/" + first(path)).getCzxid();
            return token + " " + now;
        }

        private void count(String path, int times) throws Exception {
            try (var count = new SharedCount(client, path, 0)) {
                count.start();
                for (int i = times; i > 0; ) {
                    VersionedValue<Integer> now = count.getVersionedValue();
                    if (count.trySetCount(now, now.getValue() + 1)) {
                        --i;
                    }
                }
            }
        }

        private void add(String width, String path, int times) throws Exception {
            var retry = new ExponentialBackoffRetry(1, 29, 100);
            var wide = new DistributedAtomicLong(client, path, retry);
            var narrow = new DistributedAtomicInteger(client, path, retry);
            for (int i = times; i > 0; ) {
                AtomicValue<?> done = width.equals("long") ? wide.increment() : narrow.increment();
                if (done.succeeded()) {
                    --i;
                }
            }
        }

        private String tally(String path, int times) {
            var number = new DistributedAtomicLong(client, path, new RetryNTimes(10_000, 1));
            int certain = 0;
            int unknown = 0;
            for (int i = 0; i < times; ++i) {
                try {
                    if (number.increment().succeeded()) {
                        ++certain;
                    } else {
                        ++unknown;
                    }
                } catch (Exception lost) {
                    ++unknown;
                }
            }
            return certain + " " + unknown;
        }

        private void awaitCount(String path, int number) throws Exception {
            var changes = new LinkedBlockingQueue<Integer>();
            try (var count = new SharedCount(client, path, 0)) {
                count.addListener(new SharedCountListener() {
                    @Override
                    public void countHasChanged(SharedCountReader changed, int now) {
                        changes.add(now);
                    }

                    @Override
                    public void stateChanged(CuratorFramework framework, ConnectionState state) {}
                });
                count.start();
                for (int now = count.getCount(); now != number; ) {
                    now = changes.take();
                }
            }
        }

        private static void say(String line) {
            synchronized (System.out) {
                System.out.println(line);
                System.out.flush();
            }
        }
    }

    /** So many permits of a semaphore, which are had and given back like a lock. */
    private static final class Permits implements InterProcessLock {
        private final InterProcessSemaphoreV2 semaphore;
        private final int number;
        private final Queue<Collection<Lease>> held = new ArrayDeque<>();

        Permits(InterProcessSemaphoreV2 semaphore, int number) {
            this.semaphore = semaphore;
            this.number = number;
        }

        @Override
        public void acquire() throws Exception {
            held.add(semaphore.acquire(number));
        }

        @Override
        public boolean acquire(long time, TimeUnit unit) throws Exception {
            Collection<Lease> leases = semaphore.acquire(number, time, unit);
            return leases != null && held.add(leases);
        }

        @Override
        public void release() {
            semaphore.returnAll(held.remove());
        }

        @Override
        public boolean isAcquiredInThisProcess() {
            return !held.isEmpty();
        }
    }
}
