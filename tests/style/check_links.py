"""The program itself needs no Torch, NCCL or CUDA library: those belong to the engine, which workers open."""

import re
import subprocess
import sys

from style import report, self_test

FORBIDDEN = re.compile(
    r"^lib(torch|c10|caffe2|nccl|cud|cublas|cufft|cupti|cufile|curand|cusparse|cusolver|nv|nvidia|falconbench_engine)"
)
NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")


def check(tree):
    for path, dynamic_section in tree.items():
        for library in NEEDED.findall(dynamic_section):
            if FORBIDDEN.match(library):
                yield path, 0, f"is linked with {library}"


def section(*libraries):
    return {"program": "".join(f" 0x01 (NEEDED)  Shared library: [{name}]\n" for name in libraries)}


self_test(
    check,
    flagged=[
        (section("libc.so.6", name), name)
        for name in (
            "libtorch_cpu.so",
            "libc10.so",
            "libnccl.so.2",
            "libcudart.so.13",
            "libcuda.so.1",
            "libnvidia-ml.so.1",
        )
    ],
    passing=[section("libc.so.6", "libstdc++.so.6", "libspdlog.so.1.10", "libyaml-cpp.so.0.7", "libjpeg.so.62")],
)
program = sys.argv[1]
dump = subprocess.run(["readelf", "--dynamic", "--wide", program], capture_output=True, text=True, check=True).stdout
report(list(check({program: dump})), len(NEEDED.findall(dump)), "needed libraries")
