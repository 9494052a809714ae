import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.cache.PathChildrenCache;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;

/**
 * Apache Curator's caches, persistent nodes and groups, driven by the words of
 * curator_nodes_test.cpp, in the form of driver.hpp: CuratorNodes SERVERS [CA].
 */
@SuppressWarnings("deprecation")
public final class CuratorNodes {
    private final String servers;
    private final int timeout;
    private final CuratorFramework client;
    private final Map<String, PersistentNode> nodes = new HashMap<>();
    private final Map<String, GroupMember> members = new HashMap<>();
    private final Map<String, Cache> caches = new HashMap<>();
    /**
     * By the kind of the cache. Before ZooKeeper 3.9 a watch of one cache turns off that of another
     * on the same path, if both have one session (ZOOKEEPER-4466).
     */
    private final Map<String, CuratorFramework> sessions = new HashMap<>();

    /** What the three caches have in common. */
    private interface Cache {
        Map<String, ChildData> nodes();

        boolean isLoaded();

        void close() throws Exception;
    }

    private CuratorNodes(String servers, int timeout) throws Exception {
        this.servers = servers;
        this.timeout = timeout;
        client = connect();
    }

    private CuratorFramework connect() throws Exception {
        var made = CuratorFrameworkFactory.newClient(
                servers, timeout, 10_000, new ExponentialBackoffRetry(100, 10));
        made.start();
        made.blockUntilConnected();
        return made;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 1) {
            System.setProperty("zookeeper.client.secure", "true");
            System.setProperty("zookeeper.clientCnxnSocket",
                    "org.apache.zookeeper.ClientCnxnSocketNetty");
            System.setProperty("zookeeper.ssl.trustStore.location", arguments[1]);
            System.setProperty("zookeeper.ssl.trustStore.type", "PEM");
        }
        CuratorNodes driver = null;
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            String[] words = line.split(" ");
            String answer;
            try {
                if (words[1].equals("connect")) {
                    driver = new CuratorNodes(arguments[0], Integer.parseInt(words[2]));
                }
                answer = words[0] + " ok " + driver.obey(words);
            } catch (Exception error) {
                answer = words[0] + " error " + error;
            }
            System.out.println(answer.replace('\n', ' '));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private String obey(String[] words) throws Exception {
        switch (words[1]) {
            case "connect":
                return Long.toString(client.getZookeeperClient().getZooKeeper().getSessionId());
            case "keep":
                keep(words[2], words[3]);
                return "";
            case "drop":
                nodes.remove(words[2]).close();
                return "";
            case "join":
                var member = new GroupMember(client, words[2], words[3], bytes(words[4]));
                member.start();
                members.put(words[3], member);
                return "";
            case "leave":
                members.remove(words[2]).close();
                return "";
            case "members":
                return describe(members.get(words[2]));
            case "cache":
                sessions.put(words[2], connect());
                caches.put(words[2], open(words[2], words[3]));
                return "";
            case "uncache":
                caches.remove(words[2]).close();
                sessions.remove(words[2]).close();
                return "";
            case "tree":
                return describe(caches.get(words[2]));
            case "load":
                return load(words[2], words[3], Integer.parseInt(words[4]));
            case "expire":
                sessions.get(words[2]).getZookeeperClient().getZooKeeper().getTestable()
                        .injectSessionExpiration();
                return "";
            default:
                throw new IllegalArgumentException(words[1]);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void keep(String path, String data) throws Exception {
        var node = new PersistentNode(client, CreateMode.EPHEMERAL, false, path, bytes(data));
        node.start();
        if (!node.waitForInitialCreate(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not created");
        }
        nodes.put(path, node);
    }

    /** "id=payload" of each member, by id. */
    private static String describe(GroupMember member) {
        var words = new ArrayList<String>();
        new TreeMap<>(member.getCurrentMembers()).forEach(
                (id, payload) -> words.add(id + "=" + new String(payload, StandardCharsets.UTF_8)));
        return String.join(" ", words);
    }

    private Cache open(String kind, String path) throws Exception {
        switch (kind) {
            case "curator":
                return openCuratorCache(path);
            case "tree":
                return openTreeCache(path);
            default:
                return openChildren(path);
        }
    }

    private Cache openCuratorCache(String path) {
        var cache = CuratorCache.build(sessions.get("curator"), path);
        var loaded = new AtomicInteger();
        cache.listenable().addListener(CuratorCacheListener.builder()
                .forInitialized(loaded::incrementAndGet)
                .build());
        cache.start();
        return new Cache() {
            @Override
            public Map<String, ChildData> nodes() {
                var all = new TreeMap<String, ChildData>();
                cache.stream().forEach(each -> all.put(each.getPath(), each));
                return all;
            }

            @Override
            public boolean isLoaded() {
                return loaded.get() > 0;
            }

            @Override
            public void close() {
                cache.close();
            }
        };
    }

    private Cache openTreeCache(String path) throws Exception {
        var cache = new TreeCache(sessions.get("tree"), path);
        var loaded = new AtomicInteger();
        cache.getListenable().addListener((by, event) -> {
            if (event.getType()
                    == org.apache.curator.framework.recipes.cache.TreeCacheEvent.Type.INITIALIZED) {
                loaded.incrementAndGet();
            }
        });
        cache.start();
        return new Cache() {
            @Override
            public Map<String, ChildData> nodes() {
                var all = new TreeMap<String, ChildData>();
                collect(path, all);
                return all;
            }

            private void collect(String at, Map<String, ChildData> all) {
                var data = cache.getCurrentData(at);
                if (data == null) {
                    return;
                }
                all.put(at, data);
                var below = cache.getCurrentChildren(at);
                if (below != null) {
                    below.keySet().forEach(name -> collect(at + "/" + name, all));
                }
            }

            @Override
            public boolean isLoaded() {
                return loaded.get() > 0;
            }

            @Override
            public void close() {
                cache.close();
            }
        };
    }

    private Cache openChildren(String path) throws Exception {
        var cache = new PathChildrenCache(sessions.get("children"), path, true);
        cache.start(PathChildrenCache.StartMode.BUILD_INITIAL_CACHE);
        return new Cache() {
            @Override
            public Map<String, ChildData> nodes() {
                var all = new TreeMap<String, ChildData>();
                cache.getCurrentData().forEach(each -> all.put(each.getPath(), each));
                return all;
            }

            @Override
            public boolean isLoaded() {
                return true;
            }

            @Override
            public void close() throws Exception {
                cache.close();
            }
        };
    }

    /** "path=data@czxid" of each node, by path. */
    private static String describe(Cache cache) {
        var words = new ArrayList<String>();
        cache.nodes().forEach((path, node) -> words.add(path + "="
                + new String(node.getData(), StandardCharsets.UTF_8) + "@"
                + node.getStat().getCzxid()));
        return String.join(" ", words);
    }

    /**
     * Opens a cache and waits until it has so many nodes. Returns the microseconds that it took, and
     * by how many bytes the heap has grown.
     */
    private String load(String kind, String path, int number) throws Exception {
        sessions.put(kind, connect());
        long before = used();
        long start = System.nanoTime();
        Cache cache = open(kind, path);
        while (!cache.isLoaded()) {
            Thread.sleep(1);
        }
        long micros = (System.nanoTime() - start) / 1000;
        if (cache.nodes().size() != number) {
            throw new IllegalStateException(cache.nodes().size() + " nodes");
        }
        caches.put(kind, cache);
        return micros + " " + (used() - before);
    }

    private static long used() throws Exception {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; ++i) {
            System.gc();
            Thread.sleep(100);
            least = Math.min(least, Runtime.getRuntime().totalMemory()
                    - Runtime.getRuntime().freeMemory());
        }
        return least;
    }
}
