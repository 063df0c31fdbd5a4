"""Workers and launchers that die or hang: exit codes 4, 5 and 6, and nothing left running."""

import os
import pathlib
import signal
import time
import unittest

from runs import RunTest, is_alive, wait_until

ENDLESS = {"steps": 1000000}


class FailureTest(RunTest):
    def measuring(self, **changes):
        """A run of two ranks in its measured window, and their pids."""
        spec = self.write_spec(devices=2, batch_size={"per_gpu": 4}, budget=ENDLESS, **changes)
        running = self.start("--config", spec, "--output", "out.json")
        pids = running.workers(2)
        running.wait_measuring()
        return running, pids

    def failed(self, code, pids, kind):
        report = self.report()
        self.assert_valid(report)
        self.assertEqual((report["run"]["status"], report["run"]["exit_code"]), ("failed", code))
        self.assertEqual(report["error"]["kind"], kind, report["error"])
        self.assertEqual([pid for pid in pids if is_alive(pid)], [])
        return report

    def test_a_killed_worker(self):
        running, pids = self.measuring()
        time.sleep(2.5)  # a rank tells its step every second
        os.kill(pids[1], signal.SIGKILL)
        killed = time.monotonic()
        done = running.end()
        self.assertLess(time.monotonic() - killed, 5)
        self.assertEqual(done.code, 4, done)
        error = self.failed(4, pids, "killed")["error"]
        self.assertEqual((error["rank"], error["device"], error["phase"]), (1, "CPU", "measure"))
        self.assertGreater(error["last_step"], 0)
        self.assertIn(str(pids[1]), error["message"])
        self.assertIn(error["message"].splitlines()[0], done.stderr)

    def test_a_stopped_worker(self):
        running, pids = self.measuring()
        os.kill(pids[1], signal.SIGSTOP)
        stopped = time.monotonic()
        done = running.end()
        took_s = time.monotonic() - stopped
        self.assertEqual(done.code, 5, done)
        self.assertGreater(took_s, 8)
        self.assertLess(took_s, 25)
        error = self.failed(5, pids, "hang")["error"]
        self.assertEqual((error["rank"], error["phase"]), (1, "measure"))
        self.assertIn("stopped", error["message"])

    def test_a_run_longer_than_its_timeout(self):
        running, pids = self.measuring(timeout_s=15)
        done = running.end()
        self.assertEqual(done.code, 5, done)
        self.assertGreater(done.seconds, 14.9)
        self.assertLess(done.seconds, 27)
        report = self.failed(5, pids, "deadline")
        self.assertIn("timeout_s", report["error"]["message"])
        self.assertGreater(report["training"]["steps"], 0)

    def test_a_worker_stopped_while_it_loads(self):
        running = self.start("--config", self.write_spec(devices=2, budget=ENDLESS), "--output", "out.json")
        pids = running.workers(2)
        maps = pathlib.Path(f"/proc/{pids[1]}/maps")
        wait_until(lambda: "libfalconbench_engine" in maps.read_text(), 30, "the loading of LibTorch to begin")
        os.kill(pids[1], signal.SIGSTOP)
        done = running.end(30)
        self.assertEqual(done.code, 5, done)
        error = self.failed(5, pids, "hang")["error"]
        self.assertEqual((error["rank"], error["phase"]), (1, "load"))

    def test_a_timeout_before_the_workers(self):
        making = {"format": "imagefolder", "path": "made", "make": {"train": 100000, "side": 2000}}
        for timeout_s, changes in ((0.01, {}), (1, {"data": making})):
            spec = self.write_spec(timeout_s=timeout_s, **changes)
            done = self.run_program("--config", spec, "--output", "out.json")
            self.assertEqual(done.code, 5, done)
            self.assertLess(done.seconds, 15)  # of making that would take an hour
            self.assertIn("timeout_s", self.failed(5, [], "deadline")["error"]["message"])
        self.assertEqual(list(self.folder.glob("made*")), [])

    def test_workers_do_not_outlive_a_killed_launcher(self):
        running, pids = self.measuring()
        running.process.kill()
        running.process.wait()
        wait_until(lambda: not any(map(is_alive, pids)), 5, "the end of the workers")
        self.assertFalse((self.folder / "out.json").exists())

    def test_a_worker_that_cannot_go_on_says_why(self):
        self.make_pictures("set", "--train", "16", "--classes", "2", "--side", "64")
        spec = self.write_spec(data={"format": "imagefolder", "path": "set"}, budget=ENDLESS)
        running = self.start("--config", spec, "--output", "out.json")
        pids = running.workers(1)
        running.wait_measuring()
        for picture in (self.folder / "set/train").rglob("*.jpg"):
            picture.write_bytes(b"no picture any more")
        done = running.end(60)
        self.assertEqual(done.code, 3, done)  # this host has lost what was asked for
        error = self.failed(3, pids, "host")["error"]
        self.assertEqual(error["rank"], 0)
        self.assertIn("usable", error["message"])

    def test_strict_makes_an_invalid_measurement_exit_6(self):
        exploding = {"lr": 1e30}
        for strict, code, status in ((False, 0, "ok"), (True, 6, "invalid")):
            spec = self.write_spec(optimizer=exploding, strict=strict)
            done = self.run_program("--config", spec, "--output", "out.json")
            self.assertEqual(done.code, code, done)
            report = self.report()  # strict JSON
            self.assert_valid(report)
            self.assertEqual((report["run"]["status"], report["run"]["exit_code"]), (status, code))
            self.assertIn("loss_not_finite", [finding["id"] for finding in report["findings"]])
            loss = report["training"]["loss"]
            self.assertIsNone(loss["last"])
            self.assertIn(None, loss["series"])


if __name__ == "__main__":
    unittest.main()
