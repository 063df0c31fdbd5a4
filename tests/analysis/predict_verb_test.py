"""falconbench predict, and the table of links on the page, from a made document of `falconbench links`."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import made_reports

PROGRAM = os.environ["FALCONBENCH_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAPER_MACHINE = str(ROOT / "configs/systems/paper-falcon4016.yaml")


def spread(value):
    return {"count": 3, "median": value, "min": value * 0.98, "max": value * 1.02}


def made_links(direct=200e9, staged=9e9):
    """Two GPUs: direct links and copies through host memory, an all-reduce of each way."""
    gpus = [{"index": i, "name": f"gpu{i} <b>", "kind": "cuda", "attach": "local"} for i in range(2)]
    pairs = [
        {
            "source": a,
            "target": 1 - a,
            "pair_class": "L-L",
            "peer_to_peer": {"both_bytes_per_s": 2 * direct, "write_bytes_per_s": direct, "latency_s": 2e-6},
            "host_staged": {"both_bytes_per_s": 2 * staged, "write_bytes_per_s": staged, "latency_s": 9e-6},
        }
        for a in range(2)
    ]
    sizes = [1000, 1000000, 100000000]
    collectives = [
        {
            "operation": "all_reduce",
            "peer_to_peer": way,
            "backend": "nccl",
            "ranks": 2,
            "bus_bytes_per_s": speed,
            "by_size": [{"size_bytes": size, "time_s": spread(1e-5 + size / speed)} for size in sizes],
        }
        for way, speed in ((True, direct), (False, staged))
    ]
    return {
        "schema_version": 1,
        "document": "links",
        "run": {"id": "links", "status": "ok", "hostname": "made-host", "started_at": "2026-01-31T12:00:00Z"},
        "devices": gpus,
        "pairs": pairs,
        "classes": [{"name": "L-L", "pairs": 2, "peer_to_peer": {"both_bytes_per_s": spread(2 * direct)}}],
        "collectives": collectives,
    }


class PredictTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.links = str(self.folder / "links.json")
        pathlib.Path(self.links).write_text(json.dumps(made_links()))
        made = made_reports.full_report("bert_large", "localGPUs")
        made["training"]["communication"] = {
            "bytes_per_step": 1340000000, "calls_per_step": 54, "busy_ms": 7.5, "exposed_ms": 0.4,
        }  # fmt: skip
        made["training"]["input"] = {"capacity_samples_per_s": 100000}
        self.report = str(self.folder / "run.json")
        pathlib.Path(self.report).write_text(json.dumps(made))

    def predict(self, *words, code=0):
        done = subprocess.run(
            [PROGRAM, "predict", "--report", self.report, *words], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_slow_links_cost_what_they_cannot_hide(self):
        same = json.loads(self.predict("--links", self.links, "--topology", "all", "--json"))
        self.assertAlmostEqual(same["time_ratio"], 1, delta=0.01)
        slow = json.loads(self.predict("--links", self.links, "--topology", "host_staged", "--json"))
        self.assertGreater(slow["communication_ms"], 1340 / 9)
        self.assertGreater(slow["step_ms"], same["step_ms"])
        self.assertLessEqual(slow["step_low_ms"], slow["step_ms"])
        self.assertGreaterEqual(slow["step_high_ms"], slow["step_ms"])
        text = self.predict("--links", self.links, "--topology", "host_staged")
        self.assertIn("without direct access", text)
        self.assertIn("bottleneck", text)

    def test_given_bandwidth_and_many_hosts(self):
        many = ("--bus-bandwidth", "200", "--devices", "4096", "--per-host", "8")
        wide = json.loads(self.predict(*many, "--network", "50", "--json"))
        narrow = json.loads(self.predict(*many, "--network", "5", "--json"))
        self.assertEqual(wide["devices"], 4096)
        self.assertGreater(narrow["step_ms"], wide["step_ms"])
        self.assertTrue(narrow["bottleneck"].startswith("communication"))
        self.assertIn("--network GB/s", self.predict(*many, code=2))
        scaled = json.loads(self.predict("--bus-bandwidth", "200", "--compute-scale", "4", "--json"))
        self.assertAlmostEqual(scaled["compute_ms"] / 4, wide["compute_ms"], delta=0.01 * wide["compute_ms"])

    def test_links_that_a_system_file_declares(self):
        words = ("--system", PAPER_MACHINE, "--devices", "8", "--json", "--topology")
        local, hybrid, falcon = (json.loads(self.predict(*words, name)) for name in ("localGPUs", "hybridGPUs", "falconGPUs"))
        self.assertEqual({local["links_basis"], hybrid["links_basis"], falcon["links_basis"]}, {"declared"})
        self.assertLess(local["step_ms"], falcon["step_ms"])
        self.assertLess(falcon["step_ms"], hybrid["step_ms"], "its slowest hop is F-L")
        for figure in ("F-F same drawer 24.00 GB/s both ways", "F-F cross drawer 24.00", "not measured"):
            self.assertIn(figure, falcon["fabric_source"])
        self.assertNotIn("L-L", falcon["fabric_source"])
        # 12 GB/s one way: the same ring as if it were given, but a wider band
        given = json.loads(self.predict("--bus-bandwidth", "12", "--devices", "8", "--json"))
        self.assertEqual(given["links_basis"], "given")
        self.assertAlmostEqual(falcon["step_ms"], given["step_ms"], delta=1e-6 * given["step_ms"])
        self.assertLess(falcon["step_low_ms"], given["step_low_ms"])
        self.assertGreater(falcon["step_high_ms"], given["step_high_ms"])
        # the run's own links are measured ones
        both = json.loads(self.predict("--measured-links", self.links, "--measured-on", "all", *words, "falconGPUs"))
        self.assertTrue(any("beside computation" in text for text in both["assumptions"]), both["assumptions"])
        self.assertIn("it has", self.predict("--system", PAPER_MACHINE, "--topology", "falcon", code=2))
        self.assertIn("links: declares no speed of F-L", self.predict(
            "--system", str(ROOT / "configs/systems/example.yaml"), "--topology", "hybridGPUs", code=2))  # fmt: skip

    def test_a_machine_that_files_describe(self):
        machines = ROOT / "tests/data/machines"
        words = ("--topology", "all", "--json", "--host")
        board = json.loads(self.predict(*words, str(machines / "rtx6000ada-4gpu-17nvme")))
        self.assertEqual(board["links_basis"], "usual")
        self.assertRegex(board["fabric_source"], r"L-L 26\.\d+ GB/s one way as seen elsewhere \(NODE, RTX 6000 Ada, Gen4 x16")
        self.assertIn("declare it under links:", self.predict(*words, str(machines / "h200-2gpu-vm"), code=3))
        # what the system file declares comes first; the rest is as such links are seen elsewhere
        system = self.folder / "system.yaml"
        text = pathlib.Path(PAPER_MACHINE).read_text()
        system.write_text(text[: text.index("  F-F cross drawer:")])
        words = ("--system", str(system), "--host", str(machines / "paper-falcon4016"), "--json", "--devices", "8", "--topology")
        falcon = json.loads(self.predict(*words, "falconGPUs"))
        self.assertEqual(falcon["links_basis"], "usual")
        self.assertIn("F-F same drawer 24.00 GB/s both ways declared by", falcon["fabric_source"])
        self.assertRegex(falcon["fabric_source"], r"F-F cross drawer [\d.]+ GB/s one way as seen elsewhere \(\w+, V100, Gen3")
        self.assertEqual(json.loads(self.predict(*words, "localGPUs"))["links_basis"], "declared")
        words = ("--host", str(machines / "h200-2gpu-vm"), "--system", PAPER_MACHINE, "--topology", "localGPUs")
        self.assertIn("local0", self.predict(*words, code=3))
        self.assertIn("no GPU", self.predict("--host", str(machines / "dgx1-8xV100"), "--topology", "all", code=3))

    def test_a_hierarchy_of_thousands_takes_seconds(self):
        words = ("--bus-bandwidth", "200", "--devices", "16384", "--per-host", "8", "--network", "50", "--json", "--level")
        began = time.monotonic()
        wide, narrow = (json.loads(self.predict(*words, level, "--level", "2048:800")) for level in ("256:400", "256:4"))
        self.assertLess(time.monotonic() - began, 5)
        self.assertIn("between groups of 256, at 4.000 GB/s", narrow["bottleneck"])
        self.assertGreater(narrow["step_low_ms"], wide["step_high_ms"])
        self.assertIn("several of the groups of 8", self.predict(*words, "12:400", code=2))
        self.assertIn("GPUS:GB/s", self.predict(*words, "256", code=2))
        self.assertIn("--network is needed", self.predict("--bus-bandwidth", "200", "--level", "64:100", code=2))

    def test_the_paper_s_statements_beside_predictions(self):
        folder = self.folder / "study"
        folder.mkdir()
        for model in ("bert_large", "resnet50"):
            made = made_reports.full_report(model, "localGPUs")
            made["training"]["model"] = {"parameters": 334000000 if model == "bert_large" else 25557032}
            made["plan"]["global_batch"] = 12 if model == "bert_large" else 256
            made["training"]["communication"] |= {"bytes_per_step": 4 * made["training"]["model"]["parameters"], "calls_per_step": 20}
            (folder / f"{model}.json").write_text(json.dumps(made))
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "scripts/paper_claims.py", folder, "--links", self.links, "--predict-on", PAPER_MACHINE],
            env={**os.environ, "FALCONBENCH": PROGRAM}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in done.stdout.splitlines() if "2 x Made GPU" in line}
        self.assertEqual(set(rows), {"bert_large", "resnet50"})
        slower = {model: float(cells[5].split()[0]) for model, cells in rows.items()}
        self.assertGreater(slower["bert_large"], slower["resnet50"])
        self.assertIn("almost twice the time", rows["bert_large"][-1])
        self.assertIn("No run to predict from: mobilenet_v2, yolov5l, bert_base", done.stdout)
        self.assertIn("39.1 samples/s (NVIDIA DeepLearningExamples", done.stdout)
        self.assertIn("not measured: F-F same drawer 24.00 GB/s both ways declared by", done.stdout)
        # one V100 alone takes 6 samples of 39.1 a second; the made run computed for its step less what was exposed
        step_s = made_reports.full_report("bert_large", "localGPUs")["training"]
        computing_s = (step_s["step_time_ms"]["mean"] - step_s["communication"]["exposed_ms"]) / 1000
        self.assertEqual(rows["bert_large"][2], f"{6 / 39.1 / computing_s:.3g}")

    def test_wrong_words_are_told(self):
        self.assertIn("give --links FILE, --system FILE or --host DIR", self.predict(code=2))
        self.assertIn("--topology is needed", self.predict("--links", self.links, code=2))
        self.assertIn("fewer than two", self.predict("--links", self.links, "--topology", "falconGPUs", code=2))
        self.assertIn("no document of falconbench links", self.predict("--links", self.report, "--topology", "all", code=2))

    def test_the_page_shows_the_links(self):
        page = self.folder / "page.html"
        done = subprocess.run(
            [PROGRAM, "report", self.report, "--links", self.links, "--html", page, "--csv", self.folder / "csv"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
        chart = next(chart for chart in data["charts"] if chart["id"] == "links")
        self.assertEqual(chart["rows"][0]["values"], [None, 400])
        self.assertEqual(chart["rows"][3]["values"], [18, None])
        table = next(table for table in data["answers"] if table["id"] == "link_classes")
        self.assertEqual(table["rows"][1][:4], ["L-L", "2", "direct", "400.0 (392.0 to 408.0)"])
        self.assertIn("n/a", table["rows"][2][3])

    def test_a_document_of_links_is_no_report(self):
        done = subprocess.run([PROGRAM, "compare", self.links, self.links], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("another document", done.stderr)


if __name__ == "__main__":
    unittest.main()
