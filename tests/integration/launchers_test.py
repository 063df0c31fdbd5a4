"""Real torchrun and mpirun, Slurm by its variables, and two network namespaces."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from jobs import LONG_RUN, JobTest, free_port, site_packages
from runs import LONG_S, PROGRAM

# What torch.distributed.run imports beside torch itself.
TORCHRUN_NEEDS = ("filelock", "fsspec", "jinja2", "networkx", "sympy", "typing_extensions")
INSTALL_S = 500


def torchrun_python():
    """(interpreter, environment) of a Python with torch.distributed.run, or the reason why there is none."""
    site = site_packages()
    if not (pathlib.Path(site) / "torch/distributed/run.py").is_file():
        return None, f"{site or 'the LibTorch of the build'} has no torchrun"
    environment = {**os.environ, "PYTHONPATH": site, "PYTHONWARNINGS": "ignore"}
    folder = pathlib.Path(PROGRAM).resolve().parent.parent / "tests/torchrun"
    for python in (sys.executable, folder / "bin/python"):
        if not pathlib.Path(python).exists():
            continue
        found = subprocess.run([python, "-c", "import torch.distributed.run"], env=environment, capture_output=True)
        if found.returncode == 0:
            return (str(python), environment), None
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", *TORCHRUN_NEEDS], check=True, capture_output=True,
                       timeout=INSTALL_S)
        subprocess.run([folder / "bin/python", "-c", "import torch.distributed.run"], env=environment, check=True,
                       capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
        return None, f"no Python with torchrun can be made: {said[-1] if said else error}"
    return (str(folder / "bin/python"), environment), None


class Torchrun(JobTest):
    @classmethod
    def setUpClass(cls):
        found, reason = torchrun_python()
        if found is None:
            raise unittest.SkipTest(reason)
        cls.python, cls.environment = found

    def agent(self, *options, spec="run.json", **variables):
        return subprocess.Popen(
            [self.python, "-m", "torch.distributed.run", *options, "--no-python", PROGRAM, "--config", spec,
             "--output", "out.json"],
            cwd=self.folder, env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )

    def end(self, agent):
        self.addCleanup(agent.kill)
        output, _ = agent.communicate(timeout=LONG_S)
        return agent.returncode, output.decode(errors="replace")

    def test_one_host(self):
        self.write_spec()
        code, output = self.end(self.agent("--nproc-per-node", "2"))
        self.assertEqual(code, 0, output)
        report = self.report()
        self.assert_one_run(report, 2)
        self.assertEqual(report["ranks"][1]["choices"], report["ranks"][0]["choices"])

    def test_two_agents_share_the_store_of_the_first(self):
        self.write_spec()
        port = free_port("127.0.0.1")
        agents = [
            self.agent("--nnodes", "2", "--node-rank", str(n), "--master-addr", "127.0.0.1", "--master-port", str(port),
                       "--nproc-per-node", "2", FALCONBENCH_HOSTNAME="AB"[n])
            for n in range(2)
        ]
        for code, output in [self.end(agent) for agent in agents]:
            self.assertEqual(code, 0, output)
        report = self.report()
        self.assert_one_run(report, 4)
        self.assertEqual([rank["host"] for rank in report["ranks"]], ["A", "A", "B", "B"])

    def test_a_refusal_is_a_failure_of_torchrun_too(self):
        self.write_spec(precision="fp8")
        code, output = self.end(self.agent("--nproc-per-node", "2"))
        self.assertNotEqual(code, 0, output)
        self.assertIn("fp8", output)
        self.assertFalse((self.folder / "out.json").exists())


class Mpirun(JobTest):
    def test_two_processes(self):
        mpirun = shutil.which("mpirun")
        if mpirun is None:
            self.skipTest("no mpirun here: openmpi-bin has it")
        self.write_spec()
        root = ["--allow-run-as-root"] if os.getuid() == 0 else []
        done = subprocess.run(
            [mpirun, *root, "--oversubscribe", "--bind-to", "none", "-np", "2", PROGRAM, "--config", "run.json",
             "--output", "out.json"],
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG_S,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_one_run(self.report(), 2)


class Slurm(JobTest):
    def tasks(self, count, **more):
        return [
            {"SLURM_PROCID": str(r), "SLURM_NTASKS": str(count), "SLURM_LOCALID": str(r), "SLURM_NODEID": "0",
             "SLURM_NNODES": "1", "SLURM_NODELIST": "localhost", "SLURM_JOB_ID": "4711", "SLURM_STEP_ID": "0", **more}
            for r in range(count)
        ]

    def test_two_tasks_by_their_variables(self):
        self.write_spec()
        self.assertEqual(self.assert_over(self.start_job(self.tasks(2)), LONG_S), [0, 0])
        self.assert_one_run(self.report(), 2)

    def test_two_hosts_meet_at_a_port_that_follows_from_the_job(self):
        self.write_spec()
        tasks = [
            {**task, "SLURM_LOCALID": "0", "SLURM_NNODES": "2", "SLURM_NODEID": str(r), "FALCONBENCH_HOSTNAME": "AB"[r],
             "SLURM_NODELIST": "localhost,elsewhere", "SLURM_JOB_ID": str(os.getpid())}
            for r, task in enumerate(self.tasks(2))
        ]
        self.assertEqual(self.assert_over(self.start_job(tasks), LONG_S), [0, 0])
        self.assert_one_run(self.report(), 2)

    def test_one_dry_run_speaks(self):
        self.write_spec()
        plans = [process.end().stdout for process in self.start_job(self.tasks(2), "--config", "run.json", "--dry-run")]
        self.assertIn("mobilenet_v2", plans[0])
        self.assertEqual(plans[1], "")


class Namespaces(JobTest):
    """Two hosts of two ranks in network namespaces of their own, joined by a veth pair."""

    def run_in_two(self, action):
        for tool in ("unshare", "ip", "nsenter"):
            if shutil.which(tool) is None:
                self.skipTest(f"no {tool} here")
        self.write_spec(**({} if action == "none" else LONG_RUN))
        done = subprocess.run(
            ["unshare", "--map-root-user", "--net", sys.executable, "-B",
             str(pathlib.Path(__file__).with_name("two_namespaces.py")), str(self.folder), PROGRAM, action],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2 * LONG_S,
        )
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        if done.returncode != 0 and "unshare" in done.stderr:
            self.skipTest(f"namespaces are refused here: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def test_train_together(self):
        told = self.run_in_two("none")
        self.assertEqual(told["codes"], [0, 0, 0, 0], told)
        report = self.report()
        self.assert_one_run(report, 4)
        self.assertEqual([host["address"] for host in report["run"]["hosts"]], ["10.77.0.1", "10.77.0.2"])
        self.assertEqual([host["interface"] for host in report["run"]["hosts"]], ["hostA", "hostB"])

    def test_a_killed_rank_ends_both(self):
        told = self.run_in_two("kill")
        self.assertEqual(told["codes"][0], 4, told)
        self.assertNotIn(0, told["codes"])
        self.assertEqual((self.report()["error"]["host"], self.report()["error"]["rank"]), ("B", 2))
        self.assertLess(told["seconds"], 60)

    def test_a_cut_link_ends_both(self):
        told = self.run_in_two("cut")
        self.assertEqual([told["codes"][0], told["codes"][2]], [5, 5], told)
        self.assertNotIn(0, told["codes"])
        self.assertEqual(self.report()["error"]["host"], "B")
        self.assertLess(told["seconds"], 60)


if __name__ == "__main__":
    unittest.main()
