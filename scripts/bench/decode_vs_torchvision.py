"""Times falcon_decode_bench against torchvision on the same JPEG files and the same random crops, one thread each.

torchvision: torchvision.io.decode_jpeg of bytes in memory, then resized_crop to 224 x 224 (bilinear, antialias), which
is what transforms.v2.RandomResizedCrop(224) runs. The crops are drawn by torchvision. Both give the same pictures: the
mean of one byte of each is compared. CPU seconds of the thread count, so that other processes disturb little; the two
alternate and the best of the rounds is taken. Started by decode_vs_torchvision.sh.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import torch
from torchvision.io import ImageReadMode, decode_jpeg
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional

SIZE = 224


def find_files(folder, limit):
    files = sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    return [p for p in files if p.is_file()][:limit]


def load(files):
    return [torch.frombuffer(bytearray(p.read_bytes()), dtype=torch.uint8) for p in files]


def draw_crops(buffers, seed, passes):
    torch.manual_seed(seed)
    sizes = [decode_jpeg(b, mode=ImageReadMode.RGB).shape for b in buffers]
    transform = v2.RandomResizedCrop(SIZE)
    blanks = [torch.empty(shape, dtype=torch.uint8, device="meta") for shape in sizes]
    return [transform.make_params([blank]) for _ in range(passes) for blank in blanks]


def time_torchvision(buffers, crops):
    total = 0
    start = time.thread_time()
    for i, crop in enumerate(crops):
        image = decode_jpeg(buffers[i % len(buffers)], mode=ImageReadMode.RGB)
        image = functional.resized_crop(image, **crop, size=[SIZE, SIZE], antialias=True)
        total += int(image[0, SIZE // 2, 0])
    return {"cpu_s": time.thread_time() - start, "mean_of_middle_byte": total / len(crops)}


def time_falcon(bench, lists, extent):
    done = subprocess.run([bench, *lists, extent], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def write_lists(folder, files, crops):
    paths = [pathlib.Path(folder) / "files.txt", pathlib.Path(folder) / "crops.txt"]
    paths[0].write_text("".join(f"{files[i % len(files)].resolve()}\n" for i in range(len(crops))))
    paths[1].write_text("".join("{left} {top} {width} {height}\n".format(**c) for c in crops))
    return [str(p) for p in paths]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="the falcon_decode_bench program")
    parser.add_argument("folder", help="JPEG files, searched below")
    parser.add_argument("--files", type=int, default=200, help="use at most this many files")
    parser.add_argument("--passes", type=int, default=4, help="crops of each file")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--need", type=float, default=1.3, help="exit 1 below this ratio (whole-file decode)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    files = find_files(arguments.folder, arguments.files)
    if not files:
        sys.exit(f"no .jpg or .jpeg file below {arguments.folder}")
    buffers = load(files)
    crops = draw_crops(buffers, arguments.seed, arguments.passes)
    rounds = {"torchvision": [], "whole": [], "rectangle": []}
    with tempfile.TemporaryDirectory() as folder:
        lists = write_lists(folder, files, crops)
        for _ in range(arguments.rounds):
            rounds["torchvision"].append(time_torchvision(buffers, crops))
            for extent in ("whole", "rectangle"):
                rounds[extent].append(time_falcon(arguments.bench, lists, extent))
    means = [answers[0]["mean_of_middle_byte"] for answers in rounds.values()]
    if max(means) - min(means) > 0.5:
        sys.exit(f"the pictures differ: means of one byte are {means}")
    rate = {name: len(crops) / min(a["cpu_s"] for a in answers) for name, answers in rounds.items()}
    result = {
        "files": len(files), "mean_file_bytes": sum(len(b) for b in buffers) / len(buffers), "crops": len(crops),
        "rounds": arguments.rounds, "torchvision_samples_per_s": rate["torchvision"],
        "falcon_first_read_samples_per_s": rate["whole"], "falcon_later_reads_samples_per_s": rate["rectangle"],
        "ratio_first_read": rate["whole"] / rate["torchvision"],
        "ratio_later_reads": rate["rectangle"] / rate["torchvision"],
        "torch": torch.__version__,
    }
    print(json.dumps(result, indent=1))
    return 0 if result["ratio_first_read"] >= arguments.need else 1


if __name__ == "__main__":
    sys.exit(main())
