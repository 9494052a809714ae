import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceProvider;
import org.apache.curator.x.discovery.ServiceType;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;

/**
 * Apache Curator's service discovery, driven by the words of curator_discovery_test.cpp, in the
 * form of driver.hpp: CuratorDiscovery SERVERS [CA].
 */
public final class CuratorDiscovery {
    /** A payload with a class of its own. */
    public static final class Details {
        public String zone;
        public int weight;
    }

    private static final String BASE = "/services";

    private final CuratorFramework client;
    /** By the class of payloads that the discovery expects. */
    private final Map<String, ServiceDiscovery<Object>> discoveries = new HashMap<>();
    private final Map<String, ServiceProvider<Object>> providers = new HashMap<>();
    private final Map<String, ServiceInstance<Object>> registered = new HashMap<>();

    private CuratorDiscovery(String servers, int timeout) throws Exception {
        client = CuratorFrameworkFactory.newClient(
                servers, timeout, 10_000, new ExponentialBackoffRetry(100, 10));
        client.start();
        client.blockUntilConnected();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 1) {
            System.setProperty("zookeeper.client.secure", "true");
            System.setProperty("zookeeper.clientCnxnSocket",
                    "org.apache.zookeeper.ClientCnxnSocketNetty");
            System.setProperty("zookeeper.ssl.trustStore.location", arguments[1]);
            System.setProperty("zookeeper.ssl.trustStore.type", "PEM");
        }
        CuratorDiscovery driver = null;
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            String[] words = line.split(" ");
            String answer;
            try {
                if (words[1].equals("connect")) {
                    driver = new CuratorDiscovery(arguments[0], Integer.parseInt(words[2]));
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
            case "register":
                register(words[2], words[3], words[4], words[5]);
                return "";
            case "unregister":
                discovery("Object").unregisterService(registered.remove(words[2]));
                return "";
            case "instances":
                return describe(discovery(words[3]).queryForInstances(words[2]));
            case "names":
                return String.join(" ", discovery("Object").queryForNames());
            case "await":
                return await(words[2], Integer.parseInt(words[3]));
            default:
                throw new IllegalArgumentException(words[1]);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private ServiceDiscovery<Object> discovery(String payload) throws Exception {
        ServiceDiscovery<Object> known = discoveries.get(payload);
        if (known != null) {
            return known;
        }
        Class type = Map.of("Object", Object.class, "String", String.class, "Void", Void.class,
                "Details", Details.class).get(payload);
        ServiceDiscovery<Object> made = ServiceDiscoveryBuilder.builder(type)
                .client(client)
                .basePath(BASE)
                .serializer(new JsonInstanceSerializer(type, false))
                .build();
        made.start();
        discoveries.put(payload, made);
        return made;
    }

    private void register(String service, String id, String enabled, String payload)
            throws Exception {
        var instance = ServiceInstance.builder()
                .name(service)
                .id(id)
                .address("10.0.0.2")
                .port(8080)
                .uriSpec(new UriSpec("{scheme}://{address}:{port}"))
                .serviceType(ServiceType.DYNAMIC)
                .enabled(enabled.equals("enabled"))
                .payload(payload(payload))
                .build();
        discovery("Object").registerService(instance);
        registered.put(id, instance);
    }

    private static Object payload(String word) {
        switch (word) {
            case "none":
                return null;
            case "text":
                return "a \"text\" \u00e4";
            case "list":
                return new ArrayList<>(List.of("a", "b"));
            default:
                var details = new Details();
                details.zone = word;
                details.weight = 3;
                return details;
        }
    }

    private static String describe(Collection<ServiceInstance<Object>> instances) {
        var all = new ArrayList<>(instances);
        all.sort(Comparator.comparing(ServiceInstance::getId));
        var words = new ArrayList<String>();
        for (var each : all) {
            words.add(each.getId() + "," + each.buildUriSpec() + ","
                    + (each.isEnabled() ? "enabled" : "disabled") + "," + describe(each.getPayload()));
        }
        return String.join(" ", words);
    }

    private static String describe(Object payload) {
        if (payload instanceof Details) {
            var details = (Details) payload;
            return details.zone + "-" + details.weight;
        }
        return payload == null ? "none" : payload.getClass().getSimpleName();
    }

    /** Waits until Curator's provider knows so many instances. */
    private String await(String service, int number) throws Exception {
        ServiceProvider<Object> provider = providers.get(service);
        if (provider == null) {
            provider = discovery("Object").serviceProviderBuilder().serviceName(service).build();
            provider.start();
            providers.put(service, provider);
        }
        while (provider.getAllInstances().size() != number) {
            Thread.sleep(10);
        }
        return describe(provider.getAllInstances());
    }
}
