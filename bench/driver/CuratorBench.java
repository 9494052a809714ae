import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Apache Curator's contestant, in the words of driver.hpp: CuratorBench SERVERS. */
public final class CuratorBench {
    private final String servers;
    private final List<CuratorFramework> clients = new ArrayList<>();
    private Map<String, String> task = Map.of();
    private final List<Contender> contenders = new ArrayList<>();
    private CuratorFramework starting;
    private MappedByteBuffer page;
    private Row row;
    private HeldLocks held;
    private Counting counting;
    private Releasing releasing;
    private double seconds;

    private CuratorBench(String servers) {
        this.servers = servers;
    }

    public static void main(String[] arguments) throws IOException {
        var bench = new CuratorBench(arguments[0]);
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            String answer;
            try {
                answer = bench.answer(line);
            } catch (Exception error) {
                answer = "error " + error;
            }
            System.out.println(answer);
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private String answer(String line) throws Exception {
        String[] words = line.split(" ");
        switch (words[0]) {
            case "prepare":
                prepare(words);
                return "ready";
            case "begin":
                begin();
                return "done";
            case "release":
                return "released " + row.release();
            case "result":
                return result();
            default:
                throw new IllegalArgumentException(line);
        }
    }

    private static CuratorFramework connect(String servers) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                servers, 30_000, 15_000, new ExponentialBackoffRetry(100, 10));
        client.start();
        return client;
    }

    private int number(String key, int otherwise) {
        return task.containsKey(key) ? Integer.parseInt(task.get(key)) : otherwise;
    }

    private void prepare(String[] words) throws Exception {
        contenders.clear();
        task = new HashMap<>();
        for (String word : Arrays.asList(words).subList(1, words.length)) {
            int sign = word.indexOf('=');
            task.put(word.substring(0, sign), word.substring(sign + 1));
        }
        try (FileChannel file = FileChannel.open(Path.of(task.get("counter")),
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            page = file.map(FileChannel.MapMode.READ_WRITE, 0, 4096);
            page.order(ByteOrder.nativeOrder());
        }
        if (task.get("work").equals("start")) {
            return;
        }
        int sessions = number("sessions", 1);
        while (clients.size() < sessions) {
            clients.add(connect(servers));
        }
        for (CuratorFramework client : clients) {
            client.blockUntilConnected();
        }
        if (task.get("work").equals("count")) {
            counting = new Counting(clients.get(0), task.get("path"), number("threads", 1));
            return;
        }
        if (task.get("work").equals("release")) {
            releasing = new Releasing(
                    clients.subList(0, sessions), task.get("path"), number("threads", 1));
            return;
        }
        for (int i = 0; i < number("threads", 1); ++i) {
            contenders.add(new Contender(clients.get(i % sessions), i));
        }
        if (task.get("work").equals("sessions")) {
            row = new Row();
        }
        if (number("locks", 0) > 0) {
            if (held == null) {
                held = new HeldLocks(clients.get(0), task.get("path") + "-held", number("locks", 0));
            }
            held.acquire();
        }
    }

    private void begin() throws Exception {
        long start = System.nanoTime();
        if (task.get("work").equals("start")) {
            starting = connect(task.get("servers"));
            var contender = new Contender(starting, 0);
            contenders.add(contender);
            contender.writing.acquire();
            contender.acquire.add(System.nanoTime() - start);
            contender.cycles = 1;
        } else if (task.get("work").equals("cycle")) {
            cycle(start + nanoseconds());
        } else if (task.get("work").equals("count")) {
            counting.run(start + nanoseconds());
        } else if (task.get("work").equals("release")) {
            releasing.run(start + nanoseconds());
        } else {
            throw new IllegalArgumentException(task.get("work") + ": not of this contestant");
        }
        seconds = (System.nanoTime() - start) / 1e9;
    }

    private long nanoseconds() {
        return (long) (Double.parseDouble(task.get("seconds")) * 1e9);
    }

    private void cycle(long deadline) throws Exception {
        if (contenders.size() == 1) {
            contenders.get(0).run(deadline);
            return;
        }
        var pool = Executors.newFixedThreadPool(contenders.size());
        var running = new ArrayList<Future<?>>();
        for (Contender contender : contenders) {
            running.add(pool.submit(() -> {
                contender.run(deadline);
                return null;
            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
        pool.shutdown();
    }

    private String result() throws Exception {
        if (starting != null) {
            contenders.get(0).writing.release();
            starting.close();
            starting = null;
        }
        if (row != null) {
            row.drain();
            row = null;
        }
        String holding = "";
        if (number("locks", 0) > 0) {
            held.release();
            holding = held.toString();
        }
        long cycles = 0;
        long writes = 0;
        long violations = 0;
        var acquire = new Times(1 << 16);
        var handover = new Times(1 << 16);
        for (Contender contender : contenders) {
            cycles += contender.cycles;
            writes += contender.writes;
            violations += contender.violations;
            acquire.add(contender.acquire);
            handover.add(contender.handover);
        }
        if (counting != null) {
            cycles = counting.count();
            violations = counting.error();
            counting.times().forEach(thread -> thread.forEach(acquire::add));
            counting = null;
        }
        if (releasing != null) {
            cycles = releasing.lastTimes().size();
            violations = releasing.early();
            releasing.times().forEach(acquire::add);
            releasing.lastTimes().forEach(handover::add);
            releasing.end();
            releasing = null;
        }
        return "{\"seconds\":" + seconds + ",\"cycles\":" + cycles
                + ",\"writes\":" + writes + ",\"violations\":" + violations
                + ",\"acquire\":" + acquire + ",\"handover\":" + handover + holding + "}";
    }

    /** One thread's part of a measurement. */
    private final class Contender {
        final Times acquire;
        final Times handover;
        final InterProcessLock writing;
        final CuratorFramework client;
        long cycles;
        long writes;
        long violations;
        private final InterProcessLock reading;
        private final int index;
        private final long who;
        private final int writeEvery = number("write_every", 0);
        private final int hold = number("hold_us", 0);
        private final int pause = number("pause_us", 0);

        Contender(CuratorFramework client, int index) {
            this.client = client;
            this.index = index;
            // With a thousand sessions, each has only a few samples.
            int many = task.get("work").equals("sessions") ? 8 : 1 << 16;
            acquire = new Times(many);
            handover = new Times(many);
            who = ProcessHandle.current().pid() * 4096 + 1 + index;
            if (writeEvery > 0) {
                var both = new InterProcessReadWriteLock(client, task.get("path"));
                writing = both.writeLock();
                reading = both.readLock();
            } else {
                writing = new InterProcessMutex(client, task.get("path"));
                reading = null;
            }
        }

        void run(long deadline) throws Exception {
            do {
                if (writeEvery > 0 && (cycles + index) % writeEvery != 0) {
                    read();
                } else {
                    write();
                }
                sleep(pause);
            } while (System.nanoTime() < deadline);
        }

        private void write() throws Exception {
            long begin = System.nanoTime();
            writing.acquire();
            long held = System.nanoTime();
            if (page.getLong(8) != 0) {
                ++violations;
            }
            page.putLong(8, who);
            acquire.add(held - begin);
            long released = page.getLong(16);
            if (released > begin) {
                handover.add(held - released);
            }
            sleep(hold);
            page.putLong(0, page.getLong(0) + 1);
            if (page.getLong(8) != who) {
                ++violations;
            }
            page.putLong(8, 0);
            page.putLong(16, System.nanoTime());
            writing.release();
            ++cycles;
            ++writes;
        }

        private void read() throws Exception {
            long begin = System.nanoTime();
            reading.acquire();
            acquire.add(System.nanoTime() - begin);
            if (page.getLong(8) != 0) {
                ++violations;
            }
            sleep(hold);
            if (page.getLong(8) != 0) {
                ++violations;
            }
            reading.release();
            ++cycles;
        }

        private void sleep(int microseconds) throws InterruptedException {
            if (microseconds > 0) {
                Thread.sleep(microseconds / 1000, microseconds % 1000 * 1000);
            }
        }
    }

    /** Threads in one queue; the holder waits for the order to release. */
    private final class Row {
        private final SynchronousQueue<String> holders = new SynchronousQueue<>();
        private final Semaphore permits = new Semaphore(0);
        private final CountDownLatch ended = new CountDownLatch(contenders.size());
        private String holder;
        private volatile long released;
        private volatile boolean draining;

        Row() throws InterruptedException {
            for (Contender contender : contenders) {
                new Thread(() -> stand(contender)).start();
            }
            holder = holders.take();
        }

        private void stand(Contender contender) {
            try {
                contender.writing.acquire();
                if (released != 0 && !draining) {
                    contender.handover.add(System.nanoTime() - released);
                }
                holders.put(Long.toHexString(
                        contender.client.getZookeeperClient().getZooKeeper().getSessionId()));
                permits.acquire();
                released = System.nanoTime();
                contender.writing.release();
                ended.countDown();
            } catch (Exception error) {
                System.out.println("error " + error);
            }
        }

        String release() throws InterruptedException {
            String who = holder;
            permits.release();
            holder = holders.take();
            return who;
        }

        void drain() throws InterruptedException {
            draining = true;
            permits.release(contenders.size());
            do {
                holders.poll(10, java.util.concurrent.TimeUnit.MILLISECONDS);
            } while (ended.getCount() > 0);
        }
    }

    /** Samples, and what Histogram makes of them. */
    private static final class Times {
        private long[] times;
        private int size;

        Times(int capacity) {
            times = new long[capacity];
        }

        void add(long time) {
            if (size == times.length) {
                times = Arrays.copyOf(times, 2 * size);
            }
            times[size++] = time;
        }

        void add(Times others) {
            for (int i = 0; i < others.size; ++i) {
                add(others.times[i]);
            }
        }

        @Override
        public String toString() {
            var buckets = new TreeMap<Long, Long>();
            long maximum = 0;
            for (int i = 0; i < size; ++i) {
                long time = Math.max(times[i], 1);
                maximum = Math.max(maximum, time);
                buckets.merge(Math.round(32 * Math.log(time) / Math.log(2)), 1L, Long::sum);
            }
            var text = new StringBuilder("{\"buckets\":[");
            buckets.forEach((bucket, count) -> {
                text.append(text.charAt(text.length() - 1) == '[' ? "[" : ",[");
                text.append(bucket).append(',').append(count).append(']');
            });
            return text.append("],\"maximum\":").append(maximum).append('}').toString();
        }
    }
}
