"""The work of scripts/paper_matrix.sh: the paper's whole matrix (configs/paper with its sweep.txt) for real, but small, on a
host with two GPUs and without a chassis: one or both of them play GPUs of a chassis, whose exchange then goes through host
memory (emulated, and said so).

In --output-dir it makes descriptions of the two GPUs (system-local.json, -hybrid.json, -falcon.json), data of about --steps
steps a pass in data/ and below both mounts, and the paper's specs and grids for them in configs/paper/. scripts/sweep.sh then
runs each point for one pass over its data (study/), and claims.md and page.html show what came out. Called again, it goes on
where it was: what it writes is the same each time, and points that ended well are not run again. Checkpoints take 20 GB.

--dry-run prepares all that, says what would be run, and runs none of it. Exit codes: those of sweep.sh (0 all points ok, 4
some are not), 2 wrong arguments or another data set is there already, 3 this host has no two GPUs."""

import argparse
import ctypes
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

from sweep_points import MATRIX, axes_of

HOST, FAILED = 3, 4
HERE = os.path.dirname(os.path.abspath(__file__))
PAPER = os.path.join(os.path.dirname(HERE), "configs/paper")
PROGRAM = os.environ["FALCONBENCH"]
PROGRAM = os.path.abspath(PROGRAM) if os.sep in PROGRAM else PROGRAM  # the sweep works in another folder
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)

PAPER_GPUS, GPUS = 8, 2
# Which of the two GPUs play chassis GPUs.
TOPOLOGIES = {"localGPUs": ("local", ()), "hybridGPUs": ("hybrid", (1,)), "falconGPUs": ("falcon", (0, 1))}
EMULATE = "{falcon_link: host_staged}"
# Folder -> format, options, samples of a step: of the largest batch among the models that share it (128, 11 and 12 a GPU).
DATA = {
    "imagenet": ("imagefolder", ("--side", "256"), 128 * GPUS),
    "coco": ("coco", ("--side", "640"), 11 * GPUS),
    "squad": ("squad", (), 12 * GPUS),
}
# A CUDA graph is captured in the 12th warm-up step. No point may hold up the others for longer than timeout_s.
SETTINGS = (f"devices={GPUS}", "budget.epochs=1", "warmup_steps=14", "timeout_s=180")
OWN_DISK = "falconNVMe is a folder of this host (no --mount-falcon): its figures say nothing of storage in a chassis."


def tell(text):
    print(text, flush=True)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def two_gpus():
    """uuid and pci_address of the two GPUs that a run would take."""
    command = [PROGRAM, "--model", "resnet50", "--topology", "all", "--devices", str(GPUS), "--dry-run", "--json"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode == HOST:
        tell("paper_matrix.sh: this host has no two GPUs")
    if done.returncode:
        raise SystemExit(done.returncode)
    gpus = json.loads(done.stdout)["places"]["gpus"]
    return [{key: gpu[key] for key in ("uuid", "pci_address") if gpu.get(key)} for gpu in gpus]


def write_systems(out, gpus, mounts):
    chassis = {"attach": "falcon", "chassis": "emulated", "drawer": 1, "emulated": True}
    storage = {f"{attach}NVMe": {"mount": mount, "attach": attach} for attach, mount in mounts.items()}
    for name, playing in TOPOLOGIES.values():
        system = {f"gpu{index}": {**gpu, **(chassis if index in playing else {})} for index, gpu in enumerate(gpus)}
        system = {"gpus": system, "storage": storage}
        if playing:
            system["chassis"] = {"emulated": {"model": "none: emulated"}}
        write(os.path.join(out, f"system-{name}.json"), json.dumps(system, indent=1) + "\n")


def make_data(out, mounts, steps):
    """Made once and copied. The program itself says whether what is there is that set; exits as it does where it is not."""
    for name, (data_format, options, batch) in DATA.items():
        first = os.path.join(out, "data", name)
        for folder in (first, *(os.path.join(mount, name) for mount in mounts.values())):
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            if folder != first and not os.path.exists(folder):
                shutil.rmtree(folder + ".part", ignore_errors=True)
                shutil.copytree(first, folder + ".part")
                os.rename(folder + ".part", folder)
            command = [PROGRAM, "data", "make", data_format, folder, "--train", str(steps * batch), *options]
            code = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
            if code:
                tell(f"paper_matrix.sh: {folder} is no data set of --steps {steps}: remove it, or take other folders")
                raise SystemExit(code)


def for_each_gpu(text):
    """A batch of all GPUs as what each of the paper's eight has of it."""
    return re.sub(r"\bglobal: (\d+)", lambda found: f"per_gpu: {int(found[1]) // PAPER_GPUS}", text)


def derived_lines(line):
    """A line of sweep.txt as one for each of its topologies, on the system file that has it."""
    words = shlex.split(line, comments=True)
    if not words:
        return
    axes = dict(axes_of(words[1:]))
    for topology in axes.pop("topology"):
        # dp is one worker without NCCL, whose links alone can be staged (src/plan/nccl.cpp refuses the rest).
        if topology != "localGPUs" and "dp" in axes.get("parallelism", ()):
            continue
        name, playing = TOPOLOGIES[topology]
        settings = {"topology": [topology], "system": [f"system-{name}.json"], **axes}
        if playing:
            settings["emulate"] = [EMULATE]
        yield shlex.join([words[0], *(for_each_gpu(f"{key}={','.join(values)}") for key, values in settings.items())])


def write_study(out):
    folder = os.path.join(out, "configs/paper")  # data.path of the specs is ../../data/...
    for path in sorted(glob.glob(f"{PAPER}/*.yaml")):
        with open(path, encoding="utf-8") as file:
            text = for_each_gpu(file.read()).replace("train2017", "train")  # as made sets call it
        write(os.path.join(folder, os.path.basename(path)), text)
    with open(os.path.join(PAPER, MATRIX), encoding="utf-8") as file:
        lines = [derived for line in file for derived in derived_lines(line)]
    write(os.path.join(folder, MATRIX), "# By scripts/paper_matrix.sh, from configs/paper/sweep.txt.\n" + "\n".join(lines) + "\n")
    tell("parallelism=dp runs on localGPUs only: it has no NCCL, without which no link is emulated")


def run_sweep(out, dry_run):
    """Its exit code. It is told of signals, and of the death of this process."""
    specs = sorted(glob.glob("configs/paper/*.yaml", root_dir=out))
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    words += ["--output-dir", "study", "--wait-gpu", "20", *(["--dry-run"] if dry_run else [])]
    sweep = subprocess.Popen(
        [f"{HERE}/sweep.sh", *specs, *words], cwd=out, env={**os.environ, "FALCONBENCH": PROGRAM}, stdin=subprocess.DEVNULL,
        start_new_session=True, preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
    )  # fmt: skip
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sweep.send_signal(number))
    return sweep.wait()


def leave_answers(out, given):
    """Whether the table of claims and the page could be made."""
    study = os.path.join(out, "study")
    links = ["--links", given.links] if given.links else []
    machine = ["--predict-on", given.predict_on] if given.predict_on else []
    claims = subprocess.run(
        [sys.executable, "-B", f"{HERE}/paper_claims.py", study, *links, *machine], stdout=subprocess.PIPE, text=True
    )
    table = claims.stdout + ("" if given.mount_falcon else f"\n{OWN_DISK}\n")
    if claims.returncode == 0:
        write(os.path.join(out, "claims.md"), table)
        tell(table)
    page = subprocess.run([PROGRAM, "report", study, *links, "--html", os.path.join(out, "page.html")])
    tell(f"study/, claims.md and page.html are in {out}")
    return claims.returncode == 0 and page.returncode == 0


def parsed(words):
    parser = argparse.ArgumentParser(
        prog="paper_matrix.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output-dir", default="reports/paper-matrix", metavar="DIR", help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=24, metavar="N", help="of a pass, about (default: %(default)s)")
    for attach in ("local", "falcon"):
        where = f"of {attach}NVMe (default: mounts/{attach} in --output-dir)"
        parser.add_argument(f"--mount-{attach}", metavar="DIR", help=where)
    parser.add_argument("--links", metavar="FILE", help="of falconbench links --json, for the claims and the page")
    parser.add_argument("--predict-on", metavar="SYSTEM_FILE", help="for the claims: see paper_claims.py")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run, and how long it may take")
    return parser.parse_args(words)


def main(words):
    given = parsed(words)
    out = os.path.abspath(given.output_dir)
    mounts = {"local": given.mount_local, "falcon": given.mount_falcon}
    mounts = {attach: os.path.abspath(mount or os.path.join(out, "mounts", attach)) for attach, mount in mounts.items()}
    write_systems(out, two_gpus(), mounts)
    make_data(out, mounts, given.steps)
    write_study(out)
    if not given.mount_falcon:
        tell(OWN_DISK)
    code = run_sweep(out, given.dry_run)
    if given.dry_run or code not in (0, FAILED):
        return code
    return code if leave_answers(out, given) else FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
