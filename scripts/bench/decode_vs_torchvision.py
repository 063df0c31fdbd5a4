"""Times falcon_decode_bench against torchvision on the same JPEG files and the same random crops, one thread each.

torchvision: torchvision.io.decode_jpeg of bytes in memory, then resized_crop to 224 x 224 (bilinear, antialias), which
is what transforms.v2.RandomResizedCrop(224) runs. The crops are drawn by torchvision. The two alternate; the median of
the rounds counts. Started by decode_vs_torchvision.sh.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torchvision.io import decode_jpeg
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
    sizes = [decode_jpeg(b, mode=torch_rgb()).shape for b in buffers]
    params = v2.RandomResizedCrop.make_params if hasattr(v2.RandomResizedCrop, "make_params") else None
    transform = v2.RandomResizedCrop(SIZE)
    crops = []
    for _ in range(passes):
        for _, height, width in sizes:
            blank = torch.empty((3, height, width), dtype=torch.uint8, device="meta")
            crops.append(params(transform, [blank]) if params else transform._get_params([blank]))
    return crops


def torch_rgb():
    from torchvision.io import ImageReadMode
    return ImageReadMode.RGB


def time_torchvision(buffers, crops):
    mode = torch_rgb()
    start = time.perf_counter()
    for i, crop in enumerate(crops):
        image = decode_jpeg(buffers[i % len(buffers)], mode=mode)
        functional.resized_crop(image, **crop, size=[SIZE, SIZE], antialias=True)
    return time.perf_counter() - start


def time_falcon(bench, lists, extent):
    answer = json.loads(subprocess.run([bench, *lists, extent], check=True, capture_output=True, text=True).stdout)
    return answer["seconds"]


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
    seconds = {"torchvision": [], "whole": [], "rectangle": []}
    with tempfile.TemporaryDirectory() as folder:
        lists = write_lists(folder, files, crops)
        for _ in range(arguments.rounds):
            seconds["torchvision"].append(time_torchvision(buffers, crops))
            for extent in ("whole", "rectangle"):
                seconds[extent].append(time_falcon(arguments.bench, lists, extent))
    rate = {name: len(crops) / statistics.median(values) for name, values in seconds.items()}
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
