#!/usr/bin/env python3
"""Tests of bench/fleet_model.py, and of what bench/fleet_measure.py makes of a histogram. They measure nothing."""

import dataclasses
import pathlib
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "bench"))
sys.dont_write_bytecode = True

import fleet_measure  # noqa: E402
import fleet_model  # noqa: E402

ENSEMBLE = fleet_model.Ensemble(force=1e-3, write=1e-4, session_bytes=3000, node_bytes=300, watch_bytes=200)
MEASURED = {
    "heap": {"bytes": {"session": 3000, "node": 300, "watch": 200, "waiter": 3500}},
    "rates": {"grants": {name: {"1": [1 / 1.2e-3] * 3, "4": [4 / 1.8e-3] * 3, "16": [16 / 4.2e-3] * 3}
                         for name in ("one", "three")}},
}


class Model(unittest.TestCase):
    def test_a_turn_of_the_log_serves_all_that_have_come(self):
        for clients in (1, 4, 16):
            turn = 1e-3 + clients * 2 * 1e-4
            self.assertAlmostEqual(fleet_model.grants_of(ENSEMBLE, clients), clients / turn, delta=0.01 * clients / turn)

    def test_two_points_give_back_the_times_of_a_turn(self):
        force, write = fleet_model.fit(1, 1 / 1.2e-3, 16, 16 / 4.2e-3)
        self.assertAlmostEqual(force, 1e-3)
        self.assertAlmostEqual(write, 1e-4)

    def test_points_in_between_are_foretold(self):
        rows = fleet_model.checks(MEASURED)
        self.assertEqual(len(rows), 3)
        for what, foretold, measured in rows:
            self.assertAlmostEqual(foretold / measured, 1, delta=0.01, msg=what)

    def test_a_fleet_that_keeps_its_locks_writes_little(self):
        fleet = fleet_model.Fleet(clients=1000, rate=1, timeout=10)
        self.assertAlmostEqual(fleet_model.writes_of(fleet), 2000 + 600)
        self.assertAlmostEqual(fleet_model.writes_of(dataclasses.replace(fleet, kept=0.9)), 200 + 600)

    def test_heap_is_what_sessions_nodes_and_watches_take(self):
        fleet = fleet_model.Fleet(clients=10, locks=2, waiting=1)
        self.assertAlmostEqual(fleet_model.heap_of(fleet, ENSEMBLE), 10 * (3000 + 3 * 300 + 4 * 200))

    def test_ten_times_the_clients_need_ten_times_the_ensembles(self):
        some = fleet_model.needed(fleet_model.Fleet(clients=100_000), ENSEMBLE)
        more = fleet_model.needed(fleet_model.Fleet(clients=1_000_000), ENSEMBLE)
        self.assertAlmostEqual(more[0], 10 * some[0])
        self.assertAlmostEqual(more[1], 10 * some[1])
        self.assertGreaterEqual(more[2], 9 * some[2] - 9)
        self.assertEqual(fleet_model.needed(fleet_model.Fleet(clients=1), ENSEMBLE)[2], 1)

    def test_a_report_has_a_row_for_each_ensemble_and_size(self):
        text = fleet_model.report(MEASURED, fleet_model.Fleet(), [10_000, 100_000])
        for name in ("one", "three"):
            self.assertIn(f"| {name} | 10,000 |", text)
            self.assertIn(f"| {name} | 100,000 |", text)

    def test_without_grants_a_report_says_what_a_fleet_asks_for(self):
        text = fleet_model.report({"heap": MEASURED["heap"]}, fleet_model.Fleet(rate=1), [1000])
        self.assertIn("| 1,000 | 2,600 | 600 |", text)
        self.assertNotIn("foretold", text)


class Histogram(unittest.TestCase):
    def test_the_total_is_the_last_line(self):
        text = " num     #instances         #bytes\n   1:            10            480  [B\nTotal            12            600\n"
        self.assertEqual(fleet_measure.total_of(text), 600)

    def test_output_without_a_total_is_an_error(self):
        with self.assertRaises(ValueError):
            fleet_measure.total_of("Connection refused")


if __name__ == "__main__":
    unittest.main()
