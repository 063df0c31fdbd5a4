"""A run on several hosts: two launchers on one machine, which talk over 127.0.0.2 and 127.0.0.3."""

import os
import signal
import unittest

from jobs import LONG_RUN, JobTest, Proxy, by_hand
from runs import LONG_S, is_alive, processes, wait_until, workers_of

NOTICED_S = 60  # 10 s of silence, the end of all processes, and a busy machine


class TwoHosts(JobTest):
    def test_are_one_run_with_one_report(self):
        self.write_spec()
        self.assertEqual(self.assert_over(self.two_hosts(), LONG_S), [0, 0, 0, 0])
        report = self.report()
        self.assert_one_run(report, 4)
        self.assertEqual([rank["host"] for rank in report["ranks"]], ["A", "A", "B", "B"])
        first, second = report["run"]["hosts"]
        self.assertEqual((first["name"], first["ranks"]), ("A", [0, 1]))
        self.assertEqual((second["name"], second["ranks"]), ("B", [2, 3]))
        self.assertEqual(second["interface"], "lo")
        # one machine: the clocks are the same
        self.assertLess(abs(second["clock_offset_s"]), 0.1)
        self.assertLess(second["clock_uncertainty_s"], 0.1)
        self.assertEqual([host["hostname"] for host in report["system"]["hosts"]], ["B"])
        self.assertEqual([host["name"] for host in report["utilization"]["hosts"]], ["B"])
        self.assertIn("B:host/cpu_pct", report["series"])
        self.assertEqual(report["spec"]["devices"], 4)
        self.assertEqual(sorted(path.name for path in self.folder.glob("**/*.json")), ["out.json", "run.json"])

    def test_train_what_one_host_trains(self):
        self.write_spec()
        self.assert_over(self.two_hosts(), LONG_S)
        alone = self.trained("alone", devices=4)
        self.assertEqual(self.report()["training"]["loss"]["series"], alone["training"]["loss"]["series"])

    def measuring(self, **how):
        self.write_spec(**LONG_RUN)
        running = self.two_hosts(**how)
        running[0].wait_measuring()
        return running

    def assert_lost(self, running, kind, code, survivors):
        codes = self.assert_over([running[rank] for rank in survivors], NOTICED_S)
        self.assertEqual(codes[0], code, running[0].stderr())
        self.assertNotIn(0, codes)
        error = self.report()["error"]
        self.assertEqual(error["kind"], kind, error)
        self.assertEqual(error["host"], "B", error)
        self.assertIn("B", running[0].stderr())
        self.assert_valid(self.report())
        return error

    def test_a_worker_killed_on_the_other_host_ends_all(self):
        running = self.measuring()
        os.kill(workers_of(running[2].pid)[0], signal.SIGKILL)
        error = self.assert_lost(running, "killed", 4, [0, 1, 2, 3])
        self.assertEqual(error["rank"], 2)
        self.assertIn("SIGKILL", error["message"])

    def test_a_joined_worker_killed_on_the_other_host_ends_all(self):
        running = self.measuring()
        running[3].process.kill()
        error = self.assert_lost(running, "exited", 4, [0, 1, 2])
        self.assertEqual(error["rank"], 3)

    def test_a_launcher_killed_on_the_other_host_ends_all(self):
        running = self.measuring()
        running[2].process.kill()
        self.assert_lost(running, "host_lost", 4, [0, 1, 3])

    def test_a_launcher_that_is_stopped_is_found(self):
        running = self.measuring()
        os.kill(running[2].pid, signal.SIGSTOP)
        try:
            error = self.assert_lost(running, "host_lost", 5, [0, 1])
            self.assertIn("no sign of life", error["message"])
        finally:
            os.kill(running[2].pid, signal.SIGCONT)
        # it finds that nobody waits for it any more
        self.assertNotIn(0, self.assert_over(running[2:], NOTICED_S))

    def test_without_the_first_host_the_other_ends(self):
        running = self.measuring()
        workers = [pid for process in running for pid in workers_of(process.pid)]
        running[0].process.kill()
        self.assertNotIn(0, self.assert_over(running[1:], NOTICED_S))
        self.assertIn("127.0.0.2", running[2].stderr())
        wait_until(lambda: not any(is_alive(pid) for pid in workers), NOTICED_S, "no worker is left")

    def test_a_host_that_disappears_is_named(self):
        self.write_spec(**LONG_RUN)
        running = self.two_hosts(second_address="127.0.0.3")
        # it is there before the head is, and closes what it cannot hand on
        proxy = Proxy(("127.0.0.3", self.port), ("127.0.0.2", self.port))
        self.addCleanup(proxy.close)
        running[0].wait_measuring()
        proxy.stop()
        error = self.assert_lost(running, "host_lost", 5, [0, 1, 2, 3])
        self.assertIn("no sign of life", error["message"])
        self.assertIn("127.0.0.3", running[2].stderr())

    def test_an_interrupt_on_the_other_host_ends_the_run_in_order(self):
        running = self.measuring()
        os.kill(running[2].pid, signal.SIGINT)
        self.assertEqual(self.assert_over(running, NOTICED_S)[0], 130)
        report = self.report()
        self.assertEqual(report["run"]["status"], "interrupted")
        self.assertGreater(report["training"]["steps"], 0)
        self.assertEqual(len({rank["steps"] for rank in report["ranks"]}), 1)


class Refusals(JobTest):
    def test_different_specs_are_refused_with_both_hosts_named(self):
        self.write_spec()
        self.write_spec("other.json", seed=7)
        environments = [by_hand(r, 2, 0, 1, "127.0.0.2", 29481, "AB"[r]) for r in range(2)]
        first = self.start("--config", "run.json", "--output", "out.json", **environments[0])
        second = self.start("--config", "other.json", "--output", "out.json", **environments[1])
        for done in (first.end(), second.end()):
            self.assertEqual(done.code, 2, done)
            self.assertIn("hosts A and B were given different specs", done.stderr)
        self.assertFalse((self.folder / "out.json").exists())

    def test_a_host_that_cannot_is_named(self):
        self.write_spec()
        environments = [by_hand(r, 2, 0, 1, "127.0.0.2", 29482, "AB"[r]) for r in range(2)]
        first = self.start("--config", "run.json", "--output", "out.json", **environments[0])
        second = self.start("--config", "run.json", "--topology", "all", "--output", "out.json", **environments[1],
                            FALCONBENCH_NVML_LIBRARY="none.so")
        self.assertEqual([first.end().code, second.end().code], [3, 3])
        self.assertEqual(self.report()["error"]["host"], "B")

    def test_contradictions_are_refused_with_both_variables_named(self):
        self.write_spec()
        environment = {**by_hand(0, 2, 0, 2, "127.0.0.2", 29483, "A"), "OMPI_COMM_WORLD_RANK": "1",
                       "OMPI_COMM_WORLD_SIZE": "2"}
        done = self.run_program("--config", "run.json", **environment)
        self.assertEqual(done.code, 2, done)
        self.assertIn("RANK=0", done.stderr)
        self.assertIn("OMPI_COMM_WORLD_RANK=1", done.stderr)

    def test_another_number_of_devices_is_refused(self):
        self.write_spec(devices=3)
        running = self.start_job([by_hand(r, 2, r, 2, "127.0.0.2", 29484, "A") for r in range(2)])
        for done in (process.end() for process in running):
            self.assertEqual(done.code, 2, done)
            self.assertIn("devices is 3, but RANK started 2 processes", done.stderr)

    def test_a_wrong_spec_is_told_to_all_processes(self):
        self.write_spec(precision="fp8")
        running = self.start_job([by_hand(r, 2, r, 2, "127.0.0.2", 29485, "A") for r in range(2)])
        self.assertEqual([process.end().code for process in running], [2, 2])

    def test_a_stranger_is_not_let_in(self):
        self.write_spec()
        keys = [{"FALCONBENCH_RUN_KEY": "ours"}, {"FALCONBENCH_RUN_KEY": "another"}]
        running = self.start_job(
            [{**by_hand(r, 2, 0, 1, "127.0.0.2", 29486, "AB"[r]), **keys[r]} for r in range(2)],
            "--config", "run.json", "--output", "out.json", "--timeout-s", "20",
        )
        self.assertEqual(running[0].end().code, 5)
        self.assertNotEqual(running[1].end().code, 0)
        self.assertEqual(self.report()["error"]["kind"], "deadline")


class OneHost(JobTest):
    def test_nothing_is_left_behind(self):
        self.write_spec()
        running = self.start_job([by_hand(r, 2, r, 2, "127.0.0.2", 29487, "A") for r in range(2)])
        running[0].wait_for("measuring step")
        # the second process is itself the worker: same process id, other words
        words = [words for pid, _, _, words in processes() if pid == running[1].pid]
        self.assertEqual(words[0][1] if words else "worker", "worker")
        self.assertEqual(self.assert_over(running, LONG_S), [0, 0])
        self.assert_one_run(self.report(), 2)
        self.assertEqual(workers_of(running[0].pid), [])


if __name__ == "__main__":
    unittest.main()
