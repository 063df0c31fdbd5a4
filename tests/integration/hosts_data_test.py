"""Data and places of a run on two hosts: each with a disk of its own, or with one that both share."""

import json
import shutil
import subprocess
import sys
import unittest

from jobs import JobTest, by_hand, free_port
from runs import LONG_S, ROOT, Running

MAKE = {"train": 64, "classes": 2, "side": 64}
SET = {"format": "imagefolder", "path": "set", "make": MAKE}


class OwnDisks(JobTest):
    """Host A works in a/, host B in b/: what /proc/self/cwd leads to is another place on each, as a local disk is."""

    def setUp(self):
        super().setUp()
        for host in "ab":
            (self.folder / host / "disk").mkdir(parents=True)
            self.write_system(host, attach="local")

    def write_system(self, host, management=None, **storage):
        system = {"storage": {"disk": {"mount": str(self.folder / host / "disk"), **storage}}}
        if management:
            system["chassis"] = {storage["chassis"]: {"redfish": {"url": management}}}
        (self.folder / host / "system.yaml").write_text(json.dumps(system))

    def run_hosts(self):
        # steps enough that loaders read while measuring, not only ahead of it
        self.write_spec(system="/proc/self/cwd/system.yaml", storage="disk", data=SET, budget={"steps": 40})
        port = free_port("127.0.0.2")
        running = []
        for rank in range(4):
            host = "AB"[rank // 2]
            environment = {**by_hand(rank, 4, rank % 2, 2, "127.0.0.2", port, host), "no_proxy": "127.0.0.1"}
            words = ["--config", "../run.json", "--output", "../out.json"]
            running.append(Running(self.folder / host.lower(), words, environment, rank))
            self.addCleanup(running[-1].kill_all)
        return [process.end(LONG_S) for process in running]

    def manifest(self, host):
        return json.loads((self.folder / host / "disk/set/falconbench_data.json").read_text())

    def test_each_host_fills_and_reads_its_own(self):
        done = self.run_hosts()
        self.assertEqual([one.code for one in done], [0, 0, 0, 0], done)
        self.assertEqual(self.manifest("a"), self.manifest("b"))
        report = self.report()
        self.assert_valid(report)
        self.assertEqual(len({rank["parameter_hash"] for rank in report["ranks"]}), 1)
        first, (second,) = report["storage"], report["storage"]["hosts"]
        self.assertEqual(second["name"], "B")
        for figures, host in ((first, "a"), (second, "b")):
            self.assertEqual(figures["data"]["folder"], str(self.folder / host / "disk/set"))
            self.assertEqual(figures["cache"]["files"], MAKE["train"])
            self.assertGreater(figures["file_bytes"], 0)
            self.assertIn(figures["io"], ("buffered", "direct", "uring"))
        self.assertEqual(first["file_bytes"] + second["file_bytes"], report["training"]["input"]["file_bytes"])
        self.assertNotIn("hosts_differ", [finding["id"] for finding in report["findings"]])

    def test_a_set_of_another_recipe_is_refused_by_name(self):
        self.ok("data", "make", "imagefolder", "b/disk/set", "--train", "16", "--classes", "2", "--side", "64")
        done = self.run_hosts()
        self.assertEqual([one.code for one in done], [2, 2, 2, 2], done)
        for one in (done[0], done[2]):
            self.assertIn("holds a set made with other options", one.stderr)
        self.assertIn("host B", done[0].stderr)
        self.assertFalse((self.folder / "out.json").exists())

    def begin_management(self):
        tree = self.folder / "tree"
        shutil.copytree(ROOT / "tests/data/redfish/falcon4016", tree)
        service = subprocess.Popen(
            [sys.executable, "-B", ROOT / "tests/telemetry/redfish_server.py", tree],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        self.addCleanup(service.wait)
        self.addCleanup(service.stdout.close)
        self.addCleanup(service.stdin.close)
        return f"http://127.0.0.1:{service.stdout.readline().strip()}"

    def test_hosts_that_differ_are_told_and_each_asks_its_own_chassis(self):
        self.write_system("b", self.begin_management(), attach="falcon", chassis="falcon")
        done = self.run_hosts()
        self.assertEqual([one.code for one in done], [0, 0, 0, 0], done)
        report = self.report()
        self.assert_valid(report)
        differ = [finding for finding in report["findings"] if finding["id"] == "hosts_differ"]
        self.assertEqual([finding["evidence"] for finding in differ], ["B: falcon; A: local"])
        self.assertEqual(report["topology"]["storage"]["host"], "A")
        self.assertEqual([one["host"] for one in report["topology"]["other_storages"]], ["B"])
        self.assertIsNone(report["utilization"]["fabric"]["ports"])
        ports = report["utilization"]["hosts"][0]["fabric"]["ports"]
        self.assertEqual({port["chassis"] for port in ports}, {"falcon"})
        self.assertEqual(len(ports), 18)


class SharedFolder(JobTest):
    def test_is_made_once(self):
        self.write_spec(data=SET)
        done = [process.end(LONG_S) for process in self.two_hosts()]
        self.assertEqual([one.code for one in done], [0, 0, 0, 0], done)
        self.assert_one_run(self.report(), 4)
        self.assertEqual(sorted(path.name for path in self.folder.glob("set*")), ["set"])
        again = self.ok("data", "make", "imagefolder", "set", "--train", "64", "--classes", "2", "--side", "64")
        self.assertIn("was there already", again.stdout)


if __name__ == "__main__":
    unittest.main()
