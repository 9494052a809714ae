#!/usr/bin/env python3
"""What a fleet of clients needs, from what one ensemble was measured to bear: a small simulation.

  bench/fleet_model.py --measured fleet.json             what bench/fleet_measure.py has written
  bench/fleet_model.py --measured fleet.json --clients 10000,100000 --rate 0.1 --kept 0.9

It first checks itself against points that it was not fitted to, and says by how much it is off; then it prints a row
for each fleet. Every assumption is a field of Fleet or Ensemble, with its unit and its reason.
"""

import argparse
import dataclasses
import heapq
import json
import pathlib
import statistics


@dataclasses.dataclass(frozen=True)
class Ensemble:
    """What its servers do. Times are in seconds."""
    force: float  # a turn of the log: collect what has come, force it to the disk, hear of a quorum, answer
    write: float  # what each write adds to its turn
    session_bytes: float  # of each server's heap
    node_bytes: float
    watch_bytes: float


@dataclasses.dataclass(frozen=True)
class Fleet:
    """What its clients do: the assumptions."""
    clients: int = 10_000  # each with one session
    locks: float = 1.0  # that a client holds, or keeps idle, at any moment: a node and a watch each
    waiting: float = 0.1  # acquires that wait for another client, of each client: a node and two watches
    rate: float = 0.1  # acquires of each client in a second
    kept: float = 0.0  # the part of them that finds its lock kept (keep_idle_for), and sends nothing
    shared: float = 0.0  # the part of them that joins a reader's node (share_readers), and sends nothing
    timeout: float = 10.0  # of a session; a client that has a lock asks a quorum every sixth of it
    writes: int = 2  # of an acquire and its release
    watches_of_waiter: int = 2  # its own node, and the one in front
    full: float = 0.5  # of what the log bears: what a planned load may take, for restarts and elections
    heap: float = 2e9  # bytes of each server's heap that sessions, nodes and watches may take


def grants_of(ensemble, clients, writes=2, turns=500):
    """Grants a second of so many clients that acquire and release as fast as they can: a simulation of the log's turns.
    Writes that come while a turn is on go into the next one. A release is not awaited: a client's next create follows
    its delete on the same connection, and both are in one turn."""
    arrivals = [(0.0, client) for client in range(clients)]
    heapq.heapify(arrivals)
    now, grants = 0.0, 0
    for turn in range(turns):
        now = max(now, arrivals[0][0])
        taken = []
        while arrivals and arrivals[0][0] <= now:
            taken.append(heapq.heappop(arrivals)[1])
        # In its first turn a client has no delete yet.
        now += ensemble.force + ensemble.write * len(taken) * (writes if turn else 1)
        grants += len(taken)
        for client in taken:
            heapq.heappush(arrivals, (now, client))
    return grants / now


def fit(few, few_grants, many, many_grants, writes=2):
    """The times of a turn, from two measured points: a turn of n clients takes force + n * writes * write."""
    few_turn, many_turn = few / few_grants, many / many_grants
    write = max((many_turn - few_turn) / ((many - few) * writes), 0.0)
    return max(few_turn - few * writes * write, 0.0), write


def heap_of(fleet, ensemble):
    """Bytes of each server's heap."""
    nodes = fleet.locks + fleet.waiting
    watches = fleet.locks + fleet.waiting * fleet.watches_of_waiter
    return fleet.clients * (ensemble.session_bytes + nodes * ensemble.node_bytes + watches * ensemble.watch_bytes)


def writes_of(fleet):
    """Writes a second that a quorum decides: of acquires and releases, and of beats, which are empty transactions."""
    acquires = fleet.clients * fleet.rate * (1 - fleet.kept - fleet.shared) * fleet.writes
    return acquires + fleet.clients * min(fleet.locks, 1) * 6 / fleet.timeout


def needed(fleet, ensemble, crowd=1000):
    """How many ensembles a fleet needs: by writes, by heap, and the greater of the two."""
    borne = grants_of(ensemble, crowd, fleet.writes, 20) * fleet.writes * fleet.full
    by_writes = writes_of(fleet) / borne
    by_heap = heap_of(fleet, ensemble) / fleet.heap
    return by_writes, by_heap, max(1, -int(-max(by_writes, by_heap) // 1))


def ensemble_of(measured, name):
    points = {int(count): statistics.median(rates) for count, rates in measured["rates"]["grants"][name].items()}
    few, many = min(points), max(points)
    force, write = fit(few, points[few], many, points[many])
    heap = measured["heap"]["bytes"]
    return Ensemble(force, write, heap["session"], heap["node"], heap["watch"]), points


def checks(measured):
    """Rows of (what, foretold, measured), of points that nothing was fitted to."""
    rows = []
    for name in measured.get("rates", {"grants": {}})["grants"]:
        ensemble, points = ensemble_of(measured, name)
        for count in sorted(points)[1:-1]:
            rows.append((f"{name}: grants a second of {count} clients", grants_of(ensemble, count), points[count]))
    heap = measured["heap"]["bytes"]
    rows.append(("bytes of a waiter: session, node, watch", heap["session"] + heap["node"] + heap["watch"],
                 heap["waiter"]))
    return rows


def demand(measured, fleet, sizes):
    """What fleets ask for, whatever an ensemble bears: writes a second, and heap."""
    heap = measured["heap"]["bytes"]
    ensemble = Ensemble(0, 0, heap["session"], heap["node"], heap["watch"])
    lines = ["| clients | writes a second | of them beats | heap of each server, if one ensemble has them all |",
             "|---|---|---|---|"]
    for size in sizes:
        one = dataclasses.replace(fleet, clients=size)
        quiet = dataclasses.replace(one, rate=0)
        lines.append(f"| {size:,} | {writes_of(one):,.0f} | {writes_of(quiet):,.0f} | "
                     f"{heap_of(one, ensemble) / 1e6:,.0f} MB |")
    return lines


def report(measured, fleet, sizes):
    lines = ["| bytes of each server's heap | |", "|---|---|"]
    lines += [f"| {what} | {size:,.0f} |" for what, size in measured["heap"]["bytes"].items()]
    if "rates" not in measured:
        return "\n".join([*lines, "", *demand(measured, fleet, sizes)])
    lines += ["", *demand(measured, fleet, sizes)]
    lines += ["", "| grants, beside one server's with one client | clients | ratio | least | most |", "|---|---|---|---|---|"]
    grants = measured["rates"]["grants"]
    first = min(grants["one"], key=int)
    for name in grants:
        for count in grants[name]:
            ratios = sorted(a / b for a, b in zip(grants[name][count], grants["one"][first]))
            lines.append(f"| {name} | {count} | {statistics.median(ratios):.2f} | {ratios[0]:.2f} | {ratios[-1]:.2f} |")
    lines += ["", "| checked | foretold | measured | ratio |", "|---|---|---|---|"]
    lines += [f"| {what} | {told:,.0f} | {found:,.0f} | {told / found:.2f} |" for what, told, found in checks(measured)]
    lines += ["", "| ensemble | clients | writes a second | heap of each server | ensembles by writes | by heap | needed |",
              "|---|---|---|---|---|---|---|"]
    for name in grants:
        ensemble, _ = ensemble_of(measured, name)
        for size in sizes:
            one = dataclasses.replace(fleet, clients=size)
            by_writes, by_heap, count = needed(one, ensemble)
            lines.append(f"| {name} | {size:,} | {writes_of(one):,.0f} | {heap_of(one, ensemble) / 1e6:,.0f} MB | "
                         f"{by_writes:.2f} | {by_heap:.2f} | {count} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", required=True)
    parser.add_argument("--clients", default="10000,100000,1000000")
    for field in dataclasses.fields(Fleet):
        if field.name != "clients":
            parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    options = parser.parse_args()
    measured = json.loads(pathlib.Path(options.measured).read_text(encoding="utf-8"))
    fleet = Fleet(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Fleet)
                     if field.name != "clients"})
    print(report(measured, fleet, [int(size) for size in options.clients.split(",")]))


if __name__ == "__main__":
    main()
