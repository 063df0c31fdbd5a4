"""Ctrl-C and SIGTERM in every part of a run, and reports whose place is lost: exit codes 130, 143 and 8."""

import os
import pathlib
import re
import shutil
import signal
import time
import unittest

from runs import RunTest, is_alive, parse, processes, wait_until

ENDLESS = {"steps": 1000000}


class InterruptTest(RunTest):
    def running(self, **changes):
        spec = self.write_spec(**{"devices": 2, "batch_size": {"per_gpu": 4}, "budget": ENDLESS, **changes})
        return self.start("--config", spec, "--output", "out/out.json", TMPDIR=str(self.folder))

    def interrupted(self, done, code, name):
        self.assertEqual(done.code, code, done)
        report = self.report("out/out.json")
        self.assert_valid(report)
        self.assertEqual((report["run"]["status"], report["run"]["exit_code"]), ("interrupted", code))
        self.assertIn(name, report["error"]["message"])
        return report

    def test_interrupts_while_measuring_keep_the_measured_steps(self):
        for number, name, code in ((signal.SIGINT, "SIGINT", 130), (signal.SIGTERM, "SIGTERM", 143)):
            with self.subTest(signal=name):
                running = self.running()
                pids = running.workers(2)
                running.wait_measuring()
                os.killpg(running.pid, number)  # as a terminal does: to the whole group
                sent = time.monotonic()
                done = running.end()
                self.assertLess(time.monotonic() - sent, 10)
                report = self.interrupted(done, code, name)
                training = report["training"]
                self.assertGreater(training["steps"], 0)
                self.assertEqual(training["step_time_ms"]["count"], training["steps"])
                self.assertEqual(len({rank["last_step"] for rank in report["ranks"]}), 1)
                hashes = {rank["parameter_hash"] for rank in report["ranks"]}
                self.assertEqual(len(hashes), 1)
                self.assertEqual([pid for pid in pids if is_alive(pid)], [])

    def test_an_interrupt_while_warming_up(self):
        running = self.running(warmup_steps=100000)
        running.wait_for("warm-up")
        running.process.send_signal(signal.SIGINT)
        report = self.interrupted(running.end(20), 130, "SIGINT")
        self.assertIsNone(report["training"]["step_time_ms"]["mean"])

    def test_an_interrupt_before_the_first_worker(self):
        running = self.running()

        def probes():
            return [pid for pid, parent, _, words in processes() if parent == running.pid and "--probe" in words]

        probing = wait_until(probes, 20, "the probe")
        running.process.send_signal(signal.SIGINT)
        self.interrupted(running.end(20), 130, "SIGINT")
        self.assertEqual([pid for pid in probing if is_alive(pid)], [])

    def test_an_interrupt_while_pictures_are_made(self):
        making = {"format": "imagefolder", "path": "made", "make": {"train": 100000, "side": 2000}}
        running = self.running(data=making)
        wait_until(lambda: list(self.folder.glob("made*")), 20, "pictures")
        running.process.send_signal(signal.SIGTERM)
        self.interrupted(running.end(20), 143, "SIGTERM")
        self.assertEqual(list(self.folder.glob("made*")), [])

    def test_a_second_interrupt_ends_at_once(self):
        running = self.running()
        pids = running.workers(2)
        running.wait_measuring()
        os.kill(pids[1], signal.SIGSTOP)  # now the first interrupt has to wait
        time.sleep(0.5)
        running.process.send_signal(signal.SIGINT)
        time.sleep(1.5)
        self.assertIsNone(running.process.poll())
        running.process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        done = running.end(20)
        self.assertLess(time.monotonic() - sent, 3)
        self.interrupted(done, 130, "SIGINT")
        self.assertEqual([pid for pid in pids if is_alive(pid)], [])

    def test_an_old_report_stands_until_the_new_one_is_there(self):
        (self.folder / "out").mkdir()
        old = self.folder / "out/out.json"
        old.write_text("old")
        running = self.running(devices=1)
        running.wait_measuring()
        self.assertEqual(old.read_text(), "old")
        running.process.send_signal(signal.SIGINT)
        self.interrupted(running.end(), 130, "SIGINT")
        self.assertEqual([path.name for path in old.parent.iterdir()], ["out.json"])

    def test_a_place_lost_while_running_costs_the_exit_code_not_the_report(self):
        running = self.running(devices=1)
        running.wait_measuring()
        shutil.rmtree(self.folder / "out")
        running.process.send_signal(signal.SIGINT)
        done = running.end()
        self.assertEqual(done.code, 8, done)
        told = re.search(r"it was written to (\S+)", done.stderr)
        self.assertIsNotNone(told, done)
        fallback = pathlib.Path(told.group(1))
        self.assertEqual(fallback.parent, self.folder)
        report = parse(fallback.read_text())
        self.assert_valid(report)
        self.assertGreater(report["training"]["steps"], 0)


if __name__ == "__main__":
    unittest.main()
