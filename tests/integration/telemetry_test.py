"""Telemetry of whole runs: raw readings, and the ports of a chassis by its management."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

from runs import ROOT, RunTest

SERVER = ROOT / "tests/telemetry/redfish_server.py"
TREE = ROOT / "tests/data/redfish/falcon4016"
SECRET = "open sesame"


class TelemetryTest(RunTest):
    def begin_service(self):
        """A chassis that wants a user and a password, over TLS. Gives its address."""
        if shutil.which("openssl") is None:
            self.skipTest("no openssl")
        chassis = self.folder / "chassis"
        shutil.copytree(TREE, chassis)
        (chassis / "server.json").write_text(json.dumps({"user": "monitor", "password": SECRET}))
        (self.folder / "secrets").write_text(f"monitor\n{SECRET}\n")
        names = ["-keyout", self.folder / "key.pem", "-out", self.folder / "certificate.pem"]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"]
            + ["-addext", "subjectAltName=IP:127.0.0.1", *names],
            check=True,
            capture_output=True,
        )
        service = subprocess.Popen(
            [sys.executable, "-B", SERVER, chassis, self.folder / "certificate.pem", self.folder / "key.pem"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(service.wait)
        self.addCleanup(service.stdout.close)
        self.addCleanup(service.stdin.close)
        return f"https://127.0.0.1:{service.stdout.readline().strip()}"

    def test_ports_of_a_chassis(self):
        redfish = {"url": self.begin_service(), "ca_file": "certificate.pem", "credentials": "secrets"}
        spec = self.write_spec(budget={"seconds": 3}, telemetry={"redfish": redfish, "raw": "raw.jsonl"})
        done = self.run_program("--config", spec, "--output", "run.json", no_proxy="127.0.0.1")
        self.assertEqual(done.code, 0, done)
        ports = self.report("run.json")["utilization"]["fabric"]["ports"]
        self.assertEqual(len(ports), 18)
        slot = next(p for p in ports if (p["switch"], p["port"]) == ("Drawer1", "Slot1"))
        self.assertEqual((slot["type"], slot["width"], slot["rx_bytes_per_s"]["mean"]), ("DownstreamPort", 16, 0))
        for path in (*self.folder.glob("*.json"), self.folder / "raw.jsonl"):
            self.assertNotIn(SECRET, pathlib.Path(path).read_text(), path)
        self.assertNotIn(SECRET, done.stdout + done.stderr)

        # Without the certificate nobody vouches for the service: the run goes on, and says so.
        del redfish["ca_file"]
        spec = self.write_spec(telemetry={"redfish": redfish})
        done = self.run_program("--config", spec, "--output", "plain.json", no_proxy="127.0.0.1")
        self.assertEqual(done.code, 0, done)
        fabric = self.report("plain.json")["utilization"]["fabric"]
        self.assertIsNone(fabric["ports"])
        self.assertIn("certificate", fabric["ports_reason"])

    def test_an_address_holds_no_secret(self):
        setting = f"telemetry.redfish.url=https://monitor:{SECRET}@chassis"
        done = self.run_program("--config", self.write_spec(), "--set", setting)
        self.assertEqual(done.code, 2, done)
        self.assertIn("telemetry.redfish.url: holds a user or password", done.stderr)
        self.assertNotIn(SECRET, done.stdout + done.stderr)

    def test_raw_readings_agree_with_the_report(self):
        report = self.trained("run", budget={"seconds": 2}, telemetry={"raw": "raw.jsonl", "interval_ms": 100})
        self.assertEqual(report["utilization"]["raw_file"], str(self.folder / "raw.jsonl"))
        lines = [json.loads(line) for line in (self.folder / "raw.jsonl").read_text().splitlines()]
        self.assertGreater(len(lines), 200)
        used = [one for one in lines if one["metric"] == "memory_used_bytes"]
        series = report["series"]["host/memory_used_bytes"]
        by_time = dict(zip(series["t_s"], series["values"]))
        checked = 0
        for one in used:
            value = by_time.get(round(one["t_s"], 3))
            if value is not None:
                self.assertAlmostEqual(one["value"] / value, 1, places=4)
                checked += 1
        self.assertGreater(checked, 5)


if __name__ == "__main__":
    unittest.main()
