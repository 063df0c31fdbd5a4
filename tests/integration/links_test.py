"""falconbench links on a machine without a GPU: refusals, the measurement between CPU workers, and workers that fail."""

import os
import signal
import unittest

from runs import RunTest, parse

OPERATIONS = ["all_reduce", "all_gather", "reduce_scatter", "broadcast"]


def has_gpu():
    return os.path.exists("/dev/nvidia0") or os.path.exists("/dev/nvidiactl")


class LinksTest(RunTest):
    def measure(self, *arguments):
        return self.start("links", "--topology", "cpu", "--output", "out/links.json", *arguments)

    def document(self):
        found = self.report("out/links.json")
        self.assert_valid(found, "links")
        return found

    def test_cpu_workers_are_measured_and_written(self):
        done = self.measure("--devices", "3").end()
        self.assertEqual(done.code, 0, done)
        self.assertIn("Bus bandwidth of collectives over 3 gloo ranks", done.stdout)
        found = self.document()
        self.assertEqual((found["document"], found["run"]["status"], found["run"]["exit_code"]), ("links", "ok", 0))
        self.assertEqual([device["name"] for device in found["devices"]], ["cpu0", "cpu1", "cpu2"])
        self.assertEqual((found["pairs"], found["classes"], found["host"], found["findings"]), ([], [], [], []))
        self.assertIsNone(found["error"])

        memory = found["host_memory"]
        self.assertGreater(memory["bytes_per_s"], 1e8)
        for figure in memory["by_size"]:
            self.assertIs(figure["contents_match"], True)
            self.assertEqual(figure["bytes_per_s"]["count"], 5)
            self.assertLessEqual(figure["bytes_per_s"]["min"], figure["bytes_per_s"]["median"])
            self.assertLessEqual(figure["bytes_per_s"]["median"], figure["bytes_per_s"]["max"])

        self.assertEqual([series["operation"] for series in found["collectives"]], OPERATIONS)
        factors = {"all_reduce": 4 / 3, "all_gather": 2 / 3, "reduce_scatter": 2 / 3, "broadcast": 1}
        for series in found["collectives"]:
            self.assertEqual((series["backend"], series["ranks"], series["data_type"]), ("gloo", 3, "float32"))
            self.assertEqual(series["by_size"][-1]["bus_bytes_per_s"], series["bus_bytes_per_s"])
            for figure in series["by_size"]:
                self.assertIs(figure["contents_match"], True, series["operation"])
                bus = figure["size_bytes"] / figure["time_s"]["median"] * factors[series["operation"]]
                self.assertAlmostEqual(figure["bus_bytes_per_s"] / bus, 1, delta=1e-9)

    def test_json_alone_is_on_stdout(self):
        done = self.ok("links", "--topology", "cpu", "--json", "--quiet")
        self.assert_valid(parse(done.stdout), "links")

    @unittest.skipIf(has_gpu(), "skipped: this host has a GPU")
    def test_without_a_gpu_it_says_what_is_possible(self):
        done = self.run_program("links", "--output", "out/links.json")
        self.assertEqual(done.code, 3, done)
        self.assertIn("no GPU", done.stderr)
        self.assertIn("--topology cpu", done.stderr)
        self.assertEqual(done.stdout, "")
        found = self.document()
        self.assertEqual((found["run"]["status"], found["error"]["kind"]), ("failed", "host"))

    def test_wrong_words_start_nothing(self):
        for words in (["--topologgy", "cpu"], ["cpu"], ["--devices", "0"], ["--timeout-s", "-1"], ["--topology", "zpu"]):
            with self.subTest(words=words):
                done = self.run_program("links", *words)
                self.assertIn(done.code, (2, 3) if words == ["--topology", "zpu"] and not has_gpu() else (2,), done)
                self.assertEqual(done.stdout, "")
        self.assertEqual(self.run_program("links", "--topology", "cpu", "--output", "/proc/none/x.json").code, 8)

    def test_a_worker_that_dies_costs_its_pass_alone(self):
        running = self.measure()
        running.wait_for("measuring collectives")
        os.kill(running.workers(2)[1], signal.SIGKILL)
        done = running.end()
        self.assertEqual(done.code, 4, done)
        found = self.document()
        self.assertIn("SIGKILL", found["error"]["message"])
        self.assertGreater(found["host_memory"]["bytes_per_s"], 0)
        self.assertEqual([series["bus_bytes_per_s"] for series in found["collectives"]], [None] * 4)
        self.assertEqual([finding["id"] for finding in found["findings"]], ["link_not_measured"])

    def test_a_worker_that_stops_is_a_hang(self):
        running = self.measure("--verbose")
        running.wait_for("measuring collectives")
        running.wait_for("rank 1: load")
        os.kill(running.workers(2)[1], signal.SIGSTOP)
        done = running.end()
        self.assertEqual(done.code, 5, done)
        found = self.document()
        self.assertEqual((found["run"]["exit_code"], found["error"]["kind"]), (5, "hang"))

    def test_an_interrupt_and_a_time_limit_end_it(self):
        running = self.measure()
        running.wait_for("measuring collectives")
        running.process.send_signal(signal.SIGINT)
        self.assertEqual(running.end().code, 130)
        self.assertEqual(self.document()["run"]["status"], "interrupted")
        self.assertEqual(self.measure("--timeout-s", "1").end().code, 5)
        self.assertEqual(self.document()["error"]["kind"], "deadline")


if __name__ == "__main__":
    unittest.main()
