"""What the program itself costs, and whether what it says about costs is true."""

import datetime
import os
import pathlib
import statistics
import time
import unittest

from runs import ROOT, RunTest

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def rss_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class CostTest(RunTest):
    def test_commands_without_engine_answer_at_once(self):
        spec = str(ROOT / "configs/smoke.yaml")
        for words in (["--help"], ["list", "keys"], ["--config", spec, "--topology", "cpu", "--dry-run"]):
            seconds = sorted(self.ok(*words).seconds for _ in range(5))
            self.assertLess(seconds[2], 0.3, words)  # 0.1 on a machine that does nothing else

    def test_a_thousand_steps_without_growth(self):
        small = {"batch_size": {"per_gpu": 2}, "model_options": {"classes": 10}, "optimizer": {"lr": 0}}
        spec = self.write_spec(budget={"steps": 1000}, telemetry={"interval_ms": 100}, **small)
        running = self.start("--config", spec, "--output", "out.json", "--quiet")
        worker = running.workers(1)[0]
        seen = []
        while running.process.poll() is None:
            try:
                seen.append((rss_bytes(running.pid), rss_bytes(worker)))
            except OSError:
                break
            time.sleep(0.1)
        done = running.end()
        self.assertEqual(done.code, 0, done)
        self.assertEqual(self.report()["training"]["steps"], 1000)
        self.assertLess(self.report()["run"]["launcher_peak_rss_bytes"], 100e6)
        # the first quarter holds the start, the last tenth the end
        quarter, end = len(seen) // 4, len(seen) - max(1, len(seen) // 10)
        half = (quarter + end) // 2
        self.assertGreater(end - quarter, 10)
        for who, bound in ((0, 3e6), (1, 20e6)):
            early = statistics.median(one[who] for one in seen[quarter:half])
            late = statistics.median(one[who] for one in seen[half:end])
            self.assertLess(late - early, bound, f"{('launcher', 'worker')[who]}: {early} to {late}")

    def test_cpu_seconds_and_memory_are_those_the_kernel_counts(self):
        spec = self.write_spec(budget={"seconds": 6})
        running = self.start("--config", spec, "--output", "out.json", "--quiet")
        worker = running.workers(1)[0]
        seen = []
        while True:
            try:
                seen.append((time.time(), cpu_s(worker), rss_bytes(worker)))
            except OSError:
                break
            time.sleep(0.02)
        # what /usr/bin/time says: of the launcher and all that it waited for
        _, status, usage = os.wait4(running.pid, 0)
        self.assertEqual(status, 0)
        report = self.report()
        started = datetime.datetime.fromisoformat(report["run"]["started_at"].replace("Z", "+00:00")).timestamp()
        at = {event["what"]: started + event["t_s"] for event in report["run"]["timeline"]}
        inside = [one for one in seen if at["measuring_began"] <= one[0] <= at["measuring_ended"]]
        self.assertGreater(len(inside), 50)
        process = report["utilization"]["host"]["processes"][0]
        counted_s = inside[-1][1] - inside[0][1]
        self.assertAlmostEqual(process["cpu_s"], counted_s, delta=0.1 * counted_s)
        counted_bytes = statistics.mean(one[2] for one in inside)
        self.assertAlmostEqual(process["rss_bytes"]["mean"], counted_bytes, delta=0.1 * counted_bytes)
        peak = report["ranks"][0]["peak_rss_bytes"]
        # not the largest that was seen: LibTorch's end touches 100 MB of its libraries within milliseconds
        self.assertAlmostEqual(peak, usage.ru_maxrss * 1024, delta=0.1 * peak)
        self.assertGreater(peak, 0.99 * max(one[2] for one in seen))
        whole_s = report["ranks"][0]["user_s"] + report["ranks"][0]["system_s"]
        self.assertLess(whole_s, usage.ru_utime + usage.ru_stime)

    def test_telemetry_off(self):
        report = self.trained("run", devices=2, batch_size={"per_gpu": 4}, telemetry={"samplers": []})
        self.assert_valid(report)  # with a reason for every null
        host = report["utilization"]["host"]
        for name in ("cpu_pct", "memory_used_bytes", "disks", "processes_cpu_s"):
            self.assertIsNone(host[name])
            self.assertIn("telemetry.samplers", host[f"{name}_reason"])
        self.assertEqual(report["run"]["status"], "ok")


if __name__ == "__main__":
    unittest.main()
