"""kazoo's locks, controlled by the commands of driver.hpp: kazoo_driver.py SERVERS NAMES [CA].

NAMES says whose names the other contenders on the path have: "kazoo", or "curator", and kazoo must be given those.
CA is the file of the authority that has issued the servers' certificates, if they speak TLS.
"""

import logging
import os
import queue
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.barrier import Barrier, DoubleBarrier
from kazoo.recipe.lock import Lock, ReadLock, WriteLock

KINDS = {"mutex": Lock, "read": ReadLock, "write": WriteLock}
CURATORS_NAMES = {"mutex": ["-lock-"], "read": ["__WRIT__"], "write": ["__WRIT__", "__READ__"]}

saying = threading.Lock()


def say(line):
    with saying:
        print(line, flush=True)


class Session(threading.Thread):
    """A client with a thread of its own."""

    def __init__(self, name, servers, names, ca):
        super().__init__(name=name, daemon=True)
        self.servers = servers
        self.names = names
        self.tls = {"use_ssl": True, "ca": ca} if ca else {}
        self.commands = queue.Queue()
        self.held = {}
        self.parties = {}
        self.start()

    def run(self):
        while True:
            command, *words = self.commands.get()
            try:
                answer = getattr(self, "on_" + command.replace("-", "_"))(*words)
                say(f"{self.name} ok {answer or ''}")
            except Exception as error:  # any error is the answer
                say(f"{self.name} error {error!r}")

    def on_connect(self, timeout):
        self.client = KazooClient(hosts=self.servers, timeout=int(timeout) / 1000, **self.tls)
        self.client.start(timeout=30)
        return self.client.client_id[0]

    def on_acquire(self, kind, path):
        lock = self.lock(kind, path)
        lock.acquire()
        self.held[kind, path] = lock

    def on_try(self, kind, path):
        lock = self.lock(kind, path)
        if not lock.acquire(blocking=False):
            return "no"
        self.held[kind, path] = lock
        return "yes"

    def on_release(self, kind, path):
        self.held.pop((kind, path)).release()

    def on_increment(self, kind, path, count, directory, number):
        for _ in range(int(count)):
            with (lock := self.lock(kind, path)):
                entered = time.monotonic_ns()
                node = f"{path}/{lock.node}"
                token = self.client.exists(node).czxid
                with open(f"{directory}/counter") as file:
                    value = int(file.read())
                with open(f"{directory}/counter", "w") as file:
                    print(value + 1, file=file)
                with open(f"{directory}/history", "a") as file:
                    print(number, token, node, entered, time.monotonic_ns(), file=file)

    def on_set_barrier(self, path):
        Barrier(self.client, path).create()

    def on_remove_barrier(self, path):
        Barrier(self.client, path).remove()

    def on_enter(self, path, members):
        self.parties[path] = DoubleBarrier(self.client, path, int(members))
        self.parties[path].enter()

    def on_leave(self, path, members):
        self.parties.pop(path).leave()

    def on_attend(self, path, members, diary):
        barrier = DoubleBarrier(self.client, path, int(members))

        def note(what):
            with open(diary, "a") as file:
                print(what, time.monotonic_ns(), file=file)

        while True:
            note("comes")
            barrier.enter()
            note("in")
            note("leaves")
            barrier.leave()
            note("out")

    def on_await_barrier(self, path):
        Barrier(self.client, path).wait()

    def lock(self, kind, path):
        others = CURATORS_NAMES[kind] if self.names == "curator" else []
        return KINDS[kind](self.client, path, extra_lock_patterns=others)


def main():
    logging.basicConfig(level=logging.ERROR)
    servers, names, ca = (*sys.argv[1:], None)[:3]
    sessions = {}
    for line in sys.stdin:
        name, *words = line.split()
        if name not in sessions:
            sessions[name] = Session(name, servers, names, ca)
        sessions[name].commands.put(words)
    # The test has ended, or ends this process.
    os._exit(0)


main()
