"""falconbench export: each form read back by a reader that shares nothing with the writer."""

import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import made_reports

PROGRAM = os.environ["FALCONBENCH_PROGRAM"]
AWKWARD = 'a "b" \\ <c> & \'d\' \u00e9\n\x01'
START_MS = 1769860800000  # 2026-01-31T12:00:00Z


def crc32c(data):
    """Bit by bit; crc32c(b"123456789") is 0xE3069283 (RFC 3720, B.4)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records_of(data):
    """The payloads of a TFRecord file; every checksum is compared."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(data[at : at + 8]), "checksum of the length"
        payload = data[at + 12 : at + 12 + length]
        assert len(payload) == length, "cut off"
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(payload), "checksum of the record"
        yield payload
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def message(data):
    """{field number: [value, ...]} of a protocol buffer message."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif kind == 5:
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        else:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        fields.setdefault(key >> 3, []).append(value)
    return fields


class ExportTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, made):
        (self.folder / f"{name}.json").write_text(json.dumps(made))
        return str(self.folder / f"{name}.json")

    def export(self, *words, code=0):
        done = subprocess.run([PROGRAM, "export", *words], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return (done.stdout if code == 0 else done.stderr).decode()

    def study(self):
        made = made_reports.full_report("bert_large", "falconGPUs", name="run 1")
        made["run"]["timeline"] = [
            {"t_s": 2.5, "what": "measuring_began"},
            {"t_s": 2.25, "what": "measuring_began"},
            {"t_s": 12.5, "what": "measuring_ended"},
        ]
        made["training"]["epochs"] = [{"epoch": 0, "time_s": 10.0, "samples_per_s": 100.0, "complete": True, "steps": 10}]
        made["training"]["accuracy"] = {"f1": 0.875}
        made["training"]["loss"] = {"series": [6.5, None, 5.25], "steps_per_point": 2}
        return made

    def test_mlperf_lines(self):
        text = self.export("mlperf", self.write("a", self.study()))
        lines = [json.loads(line.removeprefix(":::MLLOG ")) for line in text.splitlines()]
        self.assertTrue(all(line.startswith(":::MLLOG {") for line in text.splitlines()))
        self.assertTrue(all({"namespace", "time_ms", "event_type", "key", "value", "metadata"} == set(at) for at in lines))
        by_key = {line["key"]: line for line in lines}
        self.assertEqual(by_key["submission_benchmark"]["value"], "bert_large")
        self.assertEqual(by_key["global_batch_size"]["value"], 100)
        self.assertEqual(by_key["run_start"]["time_ms"], START_MS + 2250)
        self.assertEqual(by_key["run_stop"]["time_ms"], START_MS + 12500)
        self.assertEqual(by_key["run_stop"]["metadata"]["status"], "success")
        self.assertEqual(by_key["eval_accuracy"]["value"], 0.875)
        self.assertEqual([line["time_ms"] for line in lines], sorted(line["time_ms"] for line in lines))
        starts = [line["key"][:-6] for line in lines if line["event_type"] == "INTERVAL_START"]
        stops = [line["key"][:-5] for line in lines if line["event_type"] == "INTERVAL_END"]
        self.assertEqual(sorted(starts), sorted(stops))

    def test_prometheus_text(self):
        awkward = made_reports.full_report("resnet50", "localGPUs", name=AWKWARD)
        text = self.export("prometheus", self.write("a", self.study()), self.write("b", awkward))
        label = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*"'
        families, seen = {}, None
        for line in text.rstrip("\n").split("\n"):
            if line.startswith("# HELP "):
                seen = line.split(" ")[2]
                self.assertNotIn(seen, families, "all lines of a family stand together")
                families[seen] = []
            elif line.startswith("# TYPE "):
                self.assertEqual(line.split(" ")[2:], [seen, "gauge"])
            else:
                match = re.fullmatch(rf"([a-zA-Z_:][\w:]*)\{{({label}(?:,{label})*)\}} (\S+)", line)
                self.assertIsNotNone(match, line)
                self.assertEqual(match.group(1), seen)
                families[seen].append((match.group(2), float(match.group(3))))
        rates = families["falconbench_samples_per_second"]
        self.assertEqual(len(rates), 2)
        self.assertAlmostEqual(rates[0][1], self.study()["training"]["throughput"]["samples_per_s"])
        self.assertAlmostEqual(families["falconbench_gpu_busy_ratio"][0][1], 0.92)
        self.assertEqual(len(families["falconbench_phase_seconds"]), 14)

    def test_tensorboard_files(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)
        out = self.folder / "events"
        self.export("tensorboard", self.write("a", self.study()), self.write("b", self.study()), "--output", str(out))
        files = sorted(out.glob("*/events.out.tfevents.*"))
        self.assertEqual([file.parent.name for file in files], ["run_1", "run_1_"])
        events = [message(record) for record in records_of(files[0].read_bytes())]
        self.assertEqual(events[0][3], [b"brain.Event:2"])
        scalars = []
        for event in events[1:]:
            (value,) = message(event[5][0])[1]
            fields = message(value)
            scalars.append((fields[1][0].decode(), event[1][0], event[2][0], fields[2][0]))
        losses = [(step, value) for tag, _, step, value in scalars if tag == "train/loss"]
        self.assertEqual(losses, [(0, 6.5), (4, 5.25)])
        busy = [(at, value) for tag, at, _, value in scalars if tag == "GPU-0/gpu_busy_pct"]
        made = self.study()["series"]["GPU-0/gpu_busy_pct"]
        self.assertEqual(len(busy), len(made["values"]))
        self.assertAlmostEqual(busy[5][0], START_MS / 1000 + made["t_s"][5], places=3)

    def test_junit_xml(self):
        failed = made_reports.report(AWKWARD, status="failed")
        failed["error"] = {"kind": "worker", "message": AWKWARD}
        text = self.export("junit", self.write("a", self.study()), self.write("b", failed))
        suite = xml.etree.ElementTree.fromstring(text).find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        good, bad = suite.findall("testcase")
        self.assertIsNone(good.find("failure"))
        self.assertIn("samples/s", good.find("system-out").text)
        self.assertEqual(bad.find("failure").get("message"), "failed: " + AWKWARD.replace("\x01", "\\x01"))

    def test_junit_of_a_comparison(self):
        old = made_reports.write(self.folder, "old", rate=100)
        new = made_reports.write(self.folder, "new", rate=50)
        done = subprocess.run(
            [PROGRAM, "compare", old, new, "--gate=5%", "--format=junit"], capture_output=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 7)
        (case,) = xml.etree.ElementTree.fromstring(done.stdout).iter("testcase")
        self.assertIn("one run each", case.find("failure").get("message"))

    def test_wrong_words_are_told(self):
        report = self.write("a", self.study())
        self.assertIn("Known: mlperf", self.export(code=2))
        self.assertIn("did you mean junit?", self.export("junut", report, code=2))
        self.assertIn("--output DIR", self.export("tensorboard", report, code=2))
        self.assertIn("at least one report", self.export("junit", code=2))
        self.export("junit", report, "--output", "/proc/none/a.xml", code=8)


if __name__ == "__main__":
    unittest.main()
