#!/usr/bin/env python3
"""Measures what one ensemble bears, for bench/fleet_model.py: bytes of a server's heap for each session, node and
watch, and grants a second with one server, with three, and with an observer beside the three.

  bench/fleet_measure.py --ours build/release/bin/custodian-bench-ours --json fleet.json

It starts its own servers, on loopback, with their logs forced to the disk. Heap is counted by the JVM itself: what is
alive after a full collection (jcmd GC.class_histogram), with N and with 2 N of each. Grants are counted by the
benchmark's own driver, in interleaved rounds: only their ratios say anything, and those only on a quiet machine.

Needs Java with jcmd, ZooKeeper's jar files (CUSTODIAN_ZOOKEEPER_CLASSPATH) and, for the grants, --ours.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

DEBIAN = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"
DEADLINE = 180.0  # of each wait, in seconds
CREATE, EXISTS, CREATE_SESSION, CLOSE = 1, 3, -10, -11
OPEN_ACL = struct.pack(">iii", 1, 31, 5) + b"world" + struct.pack(">i", 6) + b"anyone"


def text(value):
    return struct.pack(">i", len(value)) + value


class Session:
    """A session in ZooKeeper's protocol, without threads: requests are sent many at a time, and then the replies are
    read. It sends no pings: its timeout is the longest that the server grants."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
        self.number = 0
        self._send(struct.pack(">iqiq", 0, 0, 3_600_000, 0) + text(bytes(16)) + b"\0")
        self._receive()

    def _send(self, packet):
        self.socket.sendall(text(packet))

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the server has closed a connection")
            data += more
        return data

    def _receive(self):
        return self._exactly(struct.unpack(">i", self._exactly(4))[0])

    def requests(self, kind, bodies):
        """Sends the requests, and returns the error codes of their replies."""
        bodies = list(bodies)
        codes = []
        for begin in range(0, len(bodies), 500):
            some = bodies[begin:begin + 500]
            packets = b""
            for body in some:
                self.number += 1
                packets += text(struct.pack(">ii", self.number, kind) + body)
            self.socket.sendall(packets)
            codes += [struct.unpack(">iqi", self._receive()[:16])[2] for _ in some]
        return codes

    def create(self, paths, ephemeral=True, data=b""):
        codes = self.requests(CREATE, (text(path.encode()) + text(data) + OPEN_ACL +
                                       struct.pack(">i", 1 if ephemeral else 0) for path in paths))
        if any(codes):
            raise RuntimeError(f"create: {next(code for code in codes if code)}")

    def watch(self, paths):
        self.requests(EXISTS, (text(path.encode()) + b"\1" for path in paths))

    def close(self):
        self.socket.close()


class Server:
    """A server of ours, in a directory of its own."""

    def __init__(self, directory, config, number=1, heap="1g"):
        self.log = directory / "log"
        self.port = next(int(line.split("=")[1]) for line in config if line.startswith("clientPort="))
        directory.mkdir(parents=True)
        (directory / "data").mkdir()
        (directory / "data" / "myid").write_text(f"{number}\n")
        lines = ["tickTime=2000", "initLimit=10", "syncLimit=5", "maxSessionTimeout=3600000", "maxClientCnxns=0",
                 f"dataDir={directory}/data", "clientPortAddress=127.0.0.1", "4lw.commands.whitelist=*",
                 "admin.enableServer=false", *config]
        (directory / "zoo.cfg").write_text("\n".join(lines) + "\n")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [shutil.which("java") or "java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-cp",
                 os.environ.get("CUSTODIAN_ZOOKEEPER_CLASSPATH", DEBIAN),
                 "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(directory / "zoo.cfg")],
                stdout=log, stderr=subprocess.STDOUT, cwd=directory)

    def ask(self, word):
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(word.encode())
            answer = b""
            while more := connection.recv(65536):
                answer += more
        return answer.decode()

    def wait_until_serving(self):
        limit = time.monotonic() + DEADLINE
        while time.monotonic() < limit:
            with contextlib.suppress(OSError):
                if "zk_server_state" in self.ask("mntr"):
                    return
            time.sleep(0.1)
        raise TimeoutError(f"the server at port {self.port} does not serve: {self.log.read_text()[-500:]}")

    def live_bytes(self):
        """What is alive on the heap, after a full collection."""
        output = subprocess.run(["jcmd", str(self.process.pid), "GC.class_histogram"], capture_output=True, text=True,
                                timeout=DEADLINE, check=True).stdout
        return total_of(output)

    def stop(self):
        self.process.kill()
        self.process.wait()


def total_of(histogram):
    """The bytes in the last line of a class histogram: Total <instances> <bytes>."""
    for line in reversed(histogram.splitlines()):
        if line.startswith("Total"):
            return int(line.split()[2])
    raise ValueError("no total in the histogram")


def free_ports(count):
    """Below the range from which the kernel takes the ports of connections: of those, a connection to a port where
    nobody listens yet may be given that very port, and then talks to itself."""
    with contextlib.ExitStack() as stack:
        ports = []
        while len(ports) < count:
            one = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                one.bind(("127.0.0.1", random.randrange(15_000, 32_000)))
                ports.append(one.getsockname()[1])
        return ports


def start_ensemble(directory, voters, observers=0):
    """The servers of an ensemble, when all of them serve; observers are the last ones."""
    size = voters + observers
    if size == 1:
        servers = [Server(directory / "1", [f"clientPort={free_ports(1)[0]}"])]
    else:
        ports = free_ports(3 * size)
        members = [f"server.{n + 1}=127.0.0.1:{ports[3 * n]}:{ports[3 * n + 1]}:"
                   f"{'observer' if n >= voters else 'participant'};127.0.0.1:{ports[3 * n + 2]}" for n in range(size)]
        servers = [Server(directory / str(n + 1), [*members, f"clientPort={ports[3 * n + 2]}"] +
                          (["peerType=observer"] if n >= voters else []), n + 1) for n in range(size)]
    try:
        for server in servers:
            server.wait_until_serving()
    except BaseException:
        for server in servers:
            server.stop()
        raise
    return servers


def grown(server, count, make):
    """Bytes for each of what make(begin, end) makes, from `count` to 2 `count` of them."""
    make(0, count)
    first = server.live_bytes()
    make(count, 2 * count)
    return (server.live_bytes() - first) / count


def measure_heap(directory, count):
    """Bytes of one server's heap for each session, node and watch; and for a waiter, which has one of each."""
    server, = start_ensemble(directory, 1)
    sessions = []
    try:
        one = Session(server.port)
        one.create(["/locks", "/queue"], ephemeral=False)
        few = max(count // 10, 1)
        names = [f"/locks/_c_0123456789abcdef0123456789abcdef-lock-{n:010}" for n in range(2 * count)]
        figures = {
            "session": grown(server, few, lambda a, b: sessions.extend(Session(server.port) for _ in range(a, b))),
            "node": grown(server, count, lambda a, b: one.create(names[a:b])),
            "watch": grown(server, count, lambda a, b: one.watch(names[a:b])),
        }

        def queue(begin, end):
            for n in range(begin, end):
                waiter = Session(server.port)
                sessions.append(waiter)
                waiter.create([f"/queue/_c_0123456789abcdef0123456789abcdef-lock-{n:010}"])
                waiter.watch([f"/queue/_c_0123456789abcdef0123456789abcdef-lock-{max(n - 1, 0):010}"])

        figures["waiter"] = grown(server, few, queue)
        return {"count": count, "sessions": few, "bytes": figures}
    finally:
        for session in sessions:
            session.close()
        server.stop()


class Driver:
    """A process of the benchmark, which acquires and releases a lock of its own."""

    def __init__(self, program, port):
        self.process = subprocess.Popen([program, "threads", f"127.0.0.1:{port}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def order(self, words):
        self.begin(words)
        return self.end()

    def begin(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def end(self):
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise RuntimeError(answer or "the driver has ended")
        return answer

    def stop(self):
        self.process.kill()
        self.process.wait()


def measure_round(program, servers, clients, seconds, directory):
    """Grants a second of so many processes, each with a lock of its own."""
    drivers = [Driver(program, servers[number % len(servers)].port) for number in range(clients)]
    try:
        for number, driver in enumerate(drivers):
            page = directory / f"page-{number}"
            page.write_bytes(bytes(4096))
            driver.order(f"prepare work=cycle path=/lock-{number} counter={page} threads=1 sessions=1 seconds={seconds}")
        for driver in drivers:
            driver.begin("begin")
        for driver in drivers:
            driver.end()
        results = [json.loads(driver.order("result")) for driver in drivers]
        if any(result["violations"] for result in results):
            raise RuntimeError("NO MUTUAL EXCLUSION")
        return sum(result["cycles"] / result["seconds"] for result in results)
    finally:
        for driver in drivers:
            driver.stop()


def measure_grants(directory, program, clients, rounds, seconds):
    """By ensemble and number of clients: grants a second, round by round. All ensembles run all the time."""
    ensembles = {}
    grants = {}
    try:
        for name, voters, observers in (("one", 1, 0), ("three", 3, 0), ("three and an observer", 3, 1)):
            ensembles[name] = start_ensemble(directory / name.replace(" ", "-"), voters, observers)
        for round_number in range(rounds + 1):
            for count in clients:
                for name, servers in ensembles.items():
                    # With an observer, all clients talk to it: that is what it is for.
                    asked = servers[-1:] if "observer" in name else servers
                    rate = measure_round(program, asked, count, seconds, directory)
                    if round_number > 0:  # the first one warms Java up
                        grants.setdefault(name, {}).setdefault(str(count), []).append(rate)
            print(f"round {round_number} of {rounds}", file=sys.stderr)
        return {"seconds": seconds, "grants": grants}
    finally:
        for servers in ensembles.values():
            for server in servers:
                server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", help="custodian-bench-ours; without it no grants are measured")
    parser.add_argument("--json", required=True, help="write the figures to this file")
    parser.add_argument("--nodes", type=int, default=20_000, help="nodes and watches, and ten times as many as sessions")
    parser.add_argument("--clients", default="1,4,16", help="processes, with commas between them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--directory", default="/var/tmp", help="where the servers' data goes; on a disk")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory, prefix="custodian-fleet-") as name:
        directory = pathlib.Path(name)
        figures = {"heap": measure_heap(directory / "heap", options.nodes)}
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        if options.ours:
            clients = [int(number) for number in options.clients.split(",")]
            figures["rates"] = measure_grants(directory, options.ours, clients, options.rounds, options.seconds)
    pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
