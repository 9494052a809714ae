import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Apache Curator's locks, told what to do in the words of driver.hpp: CuratorDriver SERVERS. */
public final class CuratorDriver {
    public static void main(String[] arguments) throws IOException {
        var sessions = new HashMap<String, Session>();
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            String[] words = line.split(" ");
            sessions.computeIfAbsent(words[0], name -> new Session(name, arguments[0]))
                    .commands.add(words);
        }
        // Whoever started us is gone, or wants us gone.
        Runtime.getRuntime().halt(0);
    }

    /** A client with a thread of its own, for Curator's locks belong to threads. */
    private static final class Session implements Runnable {
        final BlockingQueue<String[]> commands = new LinkedBlockingQueue<>();
        private final String name;
        private final String servers;
        private final Map<String, InterProcessMutex> mutexes = new HashMap<>();
        private final Map<String, InterProcessReadWriteLock> readWriteLocks = new HashMap<>();
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
                case "increment":
                    for (int i = Integer.parseInt(words[4]); i > 0; --i) {
                        increment(lock(words[2], words[3]), Path.of(words[5]), words[6]);
                    }
                    return "";
                default:
                    throw new IllegalArgumentException(words[1]);
            }
        }

        private String connect(int timeout) throws Exception {
            client = CuratorFrameworkFactory.newClient(
                    servers, timeout, 10_000, new ExponentialBackoffRetry(100, 10));
            client.start();
            client.blockUntilConnected();
            return Long.toString(client.getZookeeperClient().getZooKeeper().getSessionId());
        }

        private InterProcessMutex lock(String kind, String path) {
            if (kind.equals("mutex")) {
                return mutexes.computeIfAbsent(path, p -> new InterProcessMutex(client, p));
            }
            var lock = readWriteLocks.computeIfAbsent(
                    path, p -> new InterProcessReadWriteLock(client, p));
            return kind.equals("read") ? lock.readLock() : lock.writeLock();
        }

        private void increment(InterProcessMutex lock, Path directory, String number)
                throws Exception {
            lock.acquire();
            try {
                long in = System.nanoTime();
                // The first is the holder, which should be us.
                String node = lock.getParticipantNodes().iterator().next();
                long token = client.checkExists().forPath(node).getCzxid();
                Path counter = directory.resolve("counter");
                long value = Long.parseLong(Files.readString(counter).strip());
                Files.writeString(counter, value + 1 + "\n");
                String hold = String.join(" ", number, Long.toString(token), node,
                        Long.toString(in), Long.toString(System.nanoTime())) + "\n";
                Files.writeString(directory.resolve("history"), hold,
                        StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } finally {
                lock.release();
            }
        }

        private static void say(String line) {
            synchronized (System.out) {
                System.out.println(line);
                System.out.flush();
            }
        }
    }
}
