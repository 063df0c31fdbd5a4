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

    def write_system(self, redfish):
        """A system whose storage, the folder of the test, sits in a chassis."""
        drawer = {"switch": "Drawer1", "host_links": {"cable": {"port": "Host1"}}}
        system = {
            "chassis": {"falcon4016": {"redfish": redfish, "drawers": {"1": drawer}}},
            "storage": {"disk": {"mount": str(self.folder), "attach": "falcon", "chassis": "falcon4016", "drawer": 1}},
        }
        (self.folder / "system.yaml").write_text(json.dumps(system))

    def test_ports_of_a_chassis(self):
        self.make_pictures("set", "--train", "16", "--classes", "2", "--side", "64")
        redfish = {"url": self.begin_service(), "ca_file": "certificate.pem", "credentials": "secrets"}
        self.write_system(redfish)
        given = {
            "system": "system.yaml",
            "storage": "disk",
            "data": {"format": "imagefolder", "path": "set"},
            "telemetry": {"raw": "raw.jsonl"},
        }
        spec = self.write_spec(budget={"seconds": 3}, **given)
        shown = self.ok("--config", spec, "--dry-run").stdout
        self.assertIn(f"management of falcon4016     {redfish['url']}; drawer 1: switch Drawer1, port Host1", shown)

        done = self.ok("--config", spec, "--output", "run.json", no_proxy="127.0.0.1")
        report = self.report("run.json")
        self.assertEqual(list(report["plan"]["chassis"]), ["falcon4016"])
        ports = report["utilization"]["fabric"]["ports"]
        self.assertEqual(len(ports), 18)
        by_name = {(port["switch"], port["port"]): port for port in ports}
        slot = by_name["Drawer1", "Slot1"]
        self.assertEqual((slot["type"], slot["width"], slot["rx_bytes_per_s"]["mean"]), ("DownstreamPort", 16, 0))
        self.assertEqual((slot["chassis"], slot["drawer"], slot["host_link"]), ("falcon4016", 1, None))
        self.assertEqual(by_name["Drawer1", "Host1"]["host_link"], "cable")
        self.assertIsNone(by_name["Drawer2", "Host1"]["drawer"])
        for path in (*self.folder.glob("*.json"), self.folder / "raw.jsonl"):
            self.assertNotIn(SECRET, pathlib.Path(path).read_text(), path)
        self.assertNotIn(SECRET, done.stdout + done.stderr + shown)

        # Without the certificate nobody vouches for the service: the run goes on, and says so.
        del redfish["ca_file"]
        self.write_system(redfish)
        self.ok("--config", self.write_spec(**given), "--output", "plain.json", no_proxy="127.0.0.1")
        fabric = self.report("plain.json")["utilization"]["fabric"]
        self.assertIsNone(fabric["ports"])
        self.assertIn("certificate", fabric["ports_reason"])

    def test_a_chassis_that_the_run_does_not_use_is_not_asked(self):
        self.write_system({"url": "https://127.0.0.1:9"})
        done = self.ok("--config", self.write_spec(system="system.yaml"), "--dry-run")
        self.assertNotIn("management", done.stdout)

    def test_an_address_holds_no_secret(self):
        self.write_system({"url": f"https://monitor:{SECRET}@chassis"})
        done = self.run_program("--config", self.write_spec(system="system.yaml"))
        self.assertEqual(done.code, 2, done)
        self.assertIn("chassis.falcon4016.redfish.url: holds a user or password", done.stderr)
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
