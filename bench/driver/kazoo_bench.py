"""kazoo's contestant, which understands the orders of driver.hpp: kazoo_bench.py SERVERS."""

import collections
import json
import logging
import math
import mmap
import os
import queue
import signal
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock, ReadLock, WriteLock

now = time.monotonic_ns
WORD = struct.Struct("=q")


def connect(servers):
    client = KazooClient(hosts=servers, timeout=30)
    client.start()
    return client


def histogram(samples):
    buckets = collections.Counter(round(32 * math.log2(max(time, 1))) for time in samples)
    return {"buckets": sorted(buckets.items()), "maximum": max(samples, default=0)}


class Page:
    """The page that SharedPage maps."""

    def __init__(self, file):
        with open(file, "r+b") as opened:
            self.memory = mmap.mmap(opened.fileno(), 4096)

    def get(self, word):
        return WORD.unpack_from(self.memory, 8 * word)[0]

    def set(self, word, value):
        WORD.pack_into(self.memory, 8 * word, value)


class Contender:
    """One thread's part of a measurement."""

    def __init__(self, client, task, page, index):
        self.client, self.page, self.index = client, page, index
        self.write_every = int(task.get("write_every", 0))
        self.hold = int(task.get("hold_us", 0)) / 1e6
        self.pause = int(task.get("pause_us", 0)) / 1e6
        if self.write_every:
            self.writing = WriteLock(client, task["path"])
            self.reading = ReadLock(client, task["path"])
        else:
            self.writing = Lock(client, task["path"])
        self.who = os.getpid() * 4096 + 1 + index
        self.acquire, self.handover = [], []
        self.cycles = self.writes = self.violations = 0

    def run(self, deadline):
        while True:
            if self.write_every and (self.cycles + self.index) % self.write_every:
                self.read()
            else:
                self.write()
            if self.pause:
                time.sleep(self.pause)
            if now() >= deadline:
                break

    def write(self):
        page = self.page
        begin = now()
        self.writing.acquire()
        held = now()
        self.violations += page.get(1) != 0
        page.set(1, self.who)
        self.acquire.append(held - begin)
        released = page.get(2)
        if released > begin:
            self.handover.append(held - released)
        if self.hold:
            time.sleep(self.hold)
        page.set(0, page.get(0) + 1)
        self.violations += page.get(1) != self.who
        page.set(1, 0)
        page.set(2, now())
        self.writing.release()
        self.cycles += 1
        self.writes += 1

    def read(self):
        begin = now()
        self.reading.acquire()
        self.acquire.append(now() - begin)
        self.violations += self.page.get(1) != 0
        if self.hold:
            time.sleep(self.hold)
        self.violations += self.page.get(1) != 0
        self.reading.release()
        self.cycles += 1


class Row:
    """Threads in one queue; the holder waits for the order to release."""

    def __init__(self, contenders):
        self.holders, self.permits = queue.Queue(), threading.Semaphore(0)
        self.released, self.draining = None, False
        self.threads = [threading.Thread(target=self.stand, args=[c]) for c in contenders]
        for thread in self.threads:
            thread.start()
        self.holder = self.holders.get()

    def stand(self, contender):
        contender.writing.acquire()
        if self.released and not self.draining:
            contender.handover.append(now() - self.released)
        self.holders.put(f"{contender.client.client_id[0] & (2**64 - 1):x}")
        self.permits.acquire()
        self.released = now()
        contender.writing.release()

    def release(self):
        who = self.holder
        self.permits.release()
        self.holder = self.holders.get()
        return who

    def drain(self):
        self.draining = True
        for _ in self.threads:
            self.permits.release()
        for thread in self.threads:
            thread.join()


class Bench:
    def __init__(self, servers):
        self.servers, self.clients = servers, []
        self.contenders, self.row, self.starting = [], None, None

    def on_prepare(self, *words):
        self.task = dict(word.split("=", 1) for word in words)
        self.page = Page(self.task["counter"])
        self.contenders = []
        if self.task["work"] == "start":
            return "ready"
        sessions = int(self.task.get("sessions", 1))
        while len(self.clients) < sessions:
            self.clients.append(connect(self.servers))
        for i in range(int(self.task.get("threads", 1))):
            client = self.clients[i % sessions]
            self.contenders.append(Contender(client, self.task, self.page, i))
        if self.task["work"] == "sessions":
            self.row = Row(self.contenders)
        return "ready"

    def on_begin(self):
        start = now()
        if self.task["work"] == "start":
            self.starting = connect(self.task["servers"])
            contender = Contender(self.starting, self.task, self.page, 0)
            self.contenders.append(contender)
            contender.writing.acquire()
            contender.acquire.append(now() - start)
            contender.cycles = 1
        elif self.task["work"] == "cycle":
            self.cycle(start + int(float(self.task["seconds"]) * 1e9))
        else:
            raise ValueError(f"{self.task['work']}: not of this contestant")
        self.seconds = (now() - start) / 1e9
        return "done"

    def cycle(self, deadline):
        if len(self.contenders) == 1:
            self.contenders[0].run(deadline)
            return
        with ThreadPoolExecutor(len(self.contenders)) as pool:
            # Rethrows an exception of a thread.
            list(pool.map(lambda contender: contender.run(deadline), self.contenders))

    def on_release(self):
        return "released " + self.row.release()

    def on_result(self):
        if self.starting:
            self.contenders[0].writing.release()
            self.starting.stop()
            self.starting.close()
            self.starting = None
        if self.row:
            self.row.drain()
            self.row = None
        return json.dumps({
            "seconds": getattr(self, "seconds", 0),
            "cycles": sum(c.cycles for c in self.contenders),
            "writes": sum(c.writes for c in self.contenders),
            "violations": sum(c.violations for c in self.contenders),
            "acquire": histogram([t for c in self.contenders for t in c.acquire]),
            "handover": histogram([t for c in self.contenders for t in c.handover]),
        })


def main():
    # The benchmark handles Ctrl-C, and then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.ERROR)
    bench = Bench(sys.argv[1])
    for line in sys.stdin:
        command, *words = line.split()
        try:
            answer = getattr(bench, "on_" + command)(*words)
        except Exception as error:
            answer = f"error {error!r}"
        print(answer, flush=True)
    os._exit(0)


main()
