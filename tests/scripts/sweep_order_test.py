"""scripts/sweep.sh over a stand-in for falconbench: grids, order, repeats, GPUs in use, killed sweeps, estimates."""

import json
import os
import pathlib
import signal
import sys
import time
import unittest

from sweeps import SCRIPTS, SweepCase

sys.path.insert(0, str(SCRIPTS))
import sweep_points  # noqa: E402
import sweep_time  # noqa: E402


class SweepOrderTest(SweepCase):
    def setUp(self):
        super().setUp()
        for name in ("a.yaml", "b.yaml"):
            (self.folder / name).write_text(f"model: {name}\n")

    def names(self):
        """Points in the order in which they were run."""
        return [os.path.basename(line.split(" --output ")[1]).removesuffix(".json") for line in self.calls()]

    def test_what_is_costly_changes_least(self):
        self.sweep("a.yaml", "b.yaml", "--set", "seed=1,2", "--set", "topology=x,y")
        topologies = [name.rpartition("topology=")[2] for name in self.names()]
        self.assertEqual(topologies, ["x"] * 4 + ["y"] * 4)

    def test_shuffled_is_the_same_each_time_and_another_for_another_seed(self):
        points = sweep_points.points_of([str(self.folder / "a.yaml")], [[("seed", [str(i) for i in range(20)])]])
        orders = [
            [point["name"] for point in sweep_points.ordered(points, order)]
            for order in ("shuffled", "shuffled:0", "shuffled:1", "given")
        ]
        self.assertEqual(orders[0], orders[1])
        self.assertNotIn(orders[0], orders[2:])
        self.assertEqual({tuple(sorted(order)) for order in orders}, {tuple(sorted(orders[0]))})
        self.assertEqual(self.sweep("a.yaml", "--order", "sideways")[0], 2)

    def test_repeats_have_reports_of_their_own(self):
        code, stdout, _ = self.sweep("a.yaml", "--set", "x=1,2", "--repeats", "3")
        self.assertEqual(code, 0)
        self.assertEqual(self.names(), ["a-x=1", "a-x=1-r2", "a-x=1-r3", "a-x=2", "a-x=2-r2", "a-x=2-r3"])
        self.assertTrue(stdout.startswith("6 points: 6 ok"))
        self.sweep("a.yaml", "--set", "x=1,2", "--repeats", "4")
        self.assertEqual(self.names(), ["a-x=1-r4", "a-x=2-r4"], "the others are there")

    def test_two_grids_and_points_that_both_hold(self):
        self.sweep("a.yaml", "--set", "topology=l,f", "--and", "--set", "topology=l", "--and", "--set", "storage=n")
        self.assertEqual(self.names(), ["a-topology=l", "a-topology=f", "a-storage=n"])

    def test_the_grids_of_sweep_txt_hold_where_none_are_given(self):
        (self.folder / "sweep.txt").write_text(
            "# the study\n* topology=l,f\na.yaml 'data.path=a b' storage=n,m  # two\nc.yaml x=1\n"
        )
        self.sweep("a.yaml", "b.yaml")
        self.assertEqual(len(self.names()), 4 + 2)
        self.sweep("a.yaml", "b.yaml", "--set", "seed=7,8")
        self.assertEqual(len(self.names()), 4, "a list makes a grid of its own")
        self.sweep("b.yaml", "--set", "seed=7")
        self.assertRegex(" ".join(self.names()), r"^b-topology=l-[0-9a-f]{8} b-topology=f-[0-9a-f]{8}$")
        self.sweep("b.yaml", "--set", "topology=x")
        self.assertRegex(" ".join(self.names()), r"^b-[0-9a-f]{8}$", "one value wins over the list there")
        lines = [json.loads(line) for line in (self.out / "index.jsonl").read_text().splitlines()]
        self.assertIn({"topology": "f", "seed": "7"}, [line["settings"] for line in lines])

    def test_gpus_in_use_are_waited_for_and_not_for_ever(self):
        busy = pathlib.Path(f"{self.calls_file}.busy")
        busy.touch()
        code, stdout, stderr = self.sweep("a.yaml", "--wait-gpu", "0.2")
        self.assertEqual((code, self.names()), (4, []))
        self.assertIn("held by 4711; looking again", stderr)
        self.assertIn("1 not run", stdout)
        busy.unlink()
        self.assertEqual(self.sweep("a.yaml")[0], 0)

    def test_killed_twice_and_resumed_no_point_is_lost_or_doubled(self):
        waiting = pathlib.Path(f"{self.calls_file}.waiting")
        arguments = ("a.yaml", "--set", "act=ok,wait,later")
        for _ in range(2):
            process = self.start(*arguments)
            deadline = time.monotonic() + 30
            while not waiting.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=30)
            waiting.unlink()
        code, stdout, _ = self.sweep("a.yaml", "--set", "act=ok,later")
        self.assertEqual((code, stdout.splitlines()[0]), (0, "2 points: 2 ok"))
        report = json.loads((self.out / "a-act=wait.json").read_text())
        self.assertEqual(report["run"]["status"], "interrupted", "the run was told when its sweep was killed")
        names = self.names()
        self.assertEqual(names.count("a-act=ok"), 1)
        self.assertEqual(names.count("a-act=later"), 1)
        self.assertEqual(sorted(path.stem for path in self.out.glob("*.json")), ["a-act=later", "a-act=ok", "a-act=wait"])

    def test_host_goes_with_dry_run_only(self):
        self.assertEqual(self.sweep("a.yaml", "--host", "there")[0], 2)

    def test_estimates(self):
        gpus = [{"devices": [{"kind": "cuda"}]}] * 8
        plan = {
            "spec": {"model": "resnet50", "budget": {"steps": 100}},
            "ranks": gpus,
            "measured_steps": 1000,
            "warmup_steps": 0,
            "global_batch": 1024,
        }
        seconds, basis = sweep_time.estimate(plan, None, {})
        self.assertAlmostEqual(seconds, 1024000 / (1040 * 8) + 60)
        self.assertEqual(basis, "public V100 rates")
        self.assertAlmostEqual(sweep_time.estimate(plan, None, {"resnet50": 3200})[0], 1024000 / 25600 + 60)
        self.assertEqual(sweep_time.estimate(plan, {"run": {"duration_s": 7}}, {}), (7, "its run before"))
        unseen = {**plan, "spec": {"model": "resnet50", "budget": {"epochs": 2}, "data": {"format": "imagefolder"}}}
        del unseen["measured_steps"]
        seconds, basis = sweep_time.estimate(unseen, None, {})
        self.assertAlmostEqual(seconds, 2 * 1281167 / (1040 * 8) + 60)
        self.assertIn("original data set", basis)
        timed = {"spec": {"model": "resnet50", "budget": {"seconds": 30}}}
        self.assertEqual(sweep_time.estimate(timed, None, {})[0], 90)
        self.assertIsNone(sweep_time.estimate({"spec": {"model": "other"}}, None, {})[0])
        for seconds, text in ((0.4, "0 s"), (45, "45 s"), (200, "3 min 20 s"), (18600, "5 h 10 min"), (183600, "2 d 3 h")):
            self.assertEqual(sweep_time.text_of(seconds), text)

    def test_time_left_follows_how_fast_the_points_really_are(self):
        clock = sweep_time.Clock([("a", 100), ("b", 100), ("c", 100), ("d", None)])
        self.assertEqual(clock.left(), "about 5 min left and 1 points of unknown length")
        clock.ended("a", 200)
        clock.ended("d", None)
        self.assertEqual(clock.left(), "about 6 min 40 s left")
        clock.ended("b", None)
        self.assertEqual(clock.left(), "about 3 min 20 s left")
        clock.ended("c", 200)
        self.assertEqual(clock.left(), "")


if __name__ == "__main__":
    unittest.main()
