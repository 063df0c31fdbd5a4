"""Drafts of system files, and plans for machines that only files describe: what doctor reads, a run plans for."""

import json
import subprocess
import unittest

from doctor import INDEX, MACHINES, PROGRAM, ROOT, DoctorTest, answers, run

PAPER = MACHINES / "paper-falcon4016"
PAPER_SYSTEM = ROOT / "configs/systems/paper-falcon4016.yaml"
FIVE = {
    "localGPUs": ["localGPUs"],
    "hybridGPUs": ["hybridGPUs"],
    "falconGPUs": ["falconGPUs"],
    "localNVMe": ["localGPUs", "--storage", "localNVMe"],
    "falconNVMe": ["localGPUs", "--storage", "falconNVMe"],
}


def plan(*words):
    """Exit code, and the plan or what was said."""
    done = subprocess.run(
        [PROGRAM, "--model", "resnet50", "--dry-run", "--json", *map(str, words)],
        capture_output=True, text=True, timeout=60, check=False,
    )
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else done.stderr


def sets_of(draft):
    return [line.split(":")[0].strip() for line in draft.read_text().splitlines() if line.startswith(("  localGPUs:", "  falconGPUs:"))]


class SystemTest(DoctorTest):
    def test_a_draft_of_every_machine_loads_and_contradicts_nothing(self):
        drafted = 0
        for machine in INDEX:
            with self.subTest(machine=machine):
                draft = self.folder / f"{machine}.yaml"
                done = run("--from", MACHINES / machine, "--write-system", draft)
                if done.returncode != 0:
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertIn("no system file can be drafted", done.stderr)
                    self.assertFalse(draft.exists())
                    continue
                drafted += 1
                seen = 0
                for name in sets_of(draft):
                    code, told = plan("--system", draft, "--topology", name, "--host", MACHINES / machine)
                    self.assertEqual(code, 0, told)
                    seen += len(told["ranks"])
                    for gpu in told["places"]["gpus"]:
                        self.assertNotEqual(gpu["verdict"], "mismatched", gpu)
                self.assertEqual(seen, answers(MACHINES / machine)["gpus"], "every GPU is in one of the sets")
        self.assertGreater(drafted, 8)

    def test_the_draft_of_the_papers_machine_is_proved_by_it(self):
        draft = self.folder / "draft.yaml"
        self.assertEqual(run("--from", PAPER, "--write-system", draft).returncode, 0)
        self.assertIn("CONFIRM: no NVLink", draft.read_text())
        for name, count in (("localGPUs", 8), ("falconGPUs", 8), ("hybridGPUs", 16)):
            code, told = plan("--system", draft, "--topology", name, "--host", PAPER)
            self.assertEqual(code, 0, told)
            self.assertEqual([gpu["verdict"] for gpu in told["places"]["gpus"]], ["matched"] * count)

    def test_a_file_that_is_there_is_not_overwritten(self):
        draft = self.folder / "mine.yaml"
        draft.write_text("mine")
        done = run("--from", PAPER, "--write-system", draft)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not overwritten", done.stderr)
        self.assertEqual(draft.read_text(), "mine")
        self.assertEqual(run("--from", PAPER, "--write-system", self.folder / "absent/x.yaml").returncode, 2)

    def test_the_papers_five_configurations_are_planned_and_named_where_they_are_not(self):
        files = "data={format: imagefolder, path: set}"
        for name, words in FIVE.items():
            with self.subTest(name=name):
                beside = ["--set", files] if "--storage" in words else []
                words = ["--topology", *words, *beside, "--host", PAPER]
                code, told = plan("--system", PAPER_SYSTEM, *words)
                self.assertEqual(code, 0, told)
                self.assertEqual(len(told["ranks"]), 8)
                self.assertEqual(told["data"]["folder"], f"/mnt/{'local' if 'local' in name else 'falcon'}_nvme/set" if beside else "")
                code, told = plan(*words)
                self.assertEqual(code, 3, "without a system file")
                self.assertIn("no system file", told)
                code, told = plan("--topology", name, "--host", MACHINES / "dgx1-8xV100")
                self.assertEqual(code, 3, told)
                self.assertIn(name, told)

    def test_what_another_machine_lacks_is_named(self):
        code, told = plan("--system", PAPER_SYSTEM, "--topology", "falconGPUs", "--host", MACHINES / "dgx1-8xV100")
        self.assertEqual(code, 3)
        for words in ("falcon0 (0000:60:00.0, drawer 1 of falcon)", "this host has", "unplugged"):
            self.assertIn(words, told)
        code, told = plan("--topology", "falconGPU", "--host", PAPER)
        self.assertEqual(code, 2)
        self.assertIn("did you mean falconGPUs?", told)

    def test_host_is_for_plans_alone_and_says_what_cannot_be_read(self):
        done = subprocess.run([PROGRAM, "--model", "resnet50", "--host", PAPER], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, "--dry-run" in done.stderr), (2, True), done.stderr)
        code, told = plan("--host", self.folder)
        self.assertEqual(code, 2)
        self.assertIn("nothing in it describes a machine", told)
        self.assertEqual(run("--host", PAPER, "--json").stdout, run("--from", PAPER, "--json").stdout)


if __name__ == "__main__":
    unittest.main()
