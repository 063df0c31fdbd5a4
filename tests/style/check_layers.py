"""Includes point down only, and nothing outside the engine sees Torch, NCCL or CUDA."""

import re

from layers import CORE, ENGINE, ENGINE_FLOOR, TORCH_HEADERS, folder_of
from style import numbered, run

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')


def includes(text):
    for line, code in numbered(text):
        if match := INCLUDE.match(code):
            yield line, match.group(1)


def public_torch_headers(tree):
    """Headers of include/falconbench that include Torch, themselves or through another."""
    found = set()
    while True:
        more = {
            path[len("include/") :]
            for path, text in tree.items()
            if path.startswith("include/")
            for _, name in includes(text)
            if re.match(TORCH_HEADERS, name) or name in found
        }
        if more <= found:
            return found
        found |= more


def fault(user, name, torch_headers):
    """What is wrong with a file of folder `user` (None: a public header) including `name`, or None."""
    used = name.split("/")[0]
    if user in ENGINE:
        if used in CORE and CORE[used] > ENGINE_FLOOR:
            return f"the engine's {user} must not use {used}, which is above it"
        if used in ENGINE and used != user and ENGINE[used] >= ENGINE[user]:
            return f"{user} must not use {used}: it is not below"
        return None
    if user is None:
        return f"a public header must not use {used}/ of src" if used in CORE or used in ENGINE else None
    if re.match(TORCH_HEADERS, name) or name in torch_headers:
        return f"{user} is free of Torch and CUDA"
    if used in ENGINE:
        return f"{user} must not use the engine's {used}"
    if used in CORE and used != user and CORE[used] >= CORE[user]:
        return f"{user} must not use {used}: it is not below"
    return None


def check(tree):
    torch_headers = public_torch_headers(tree)
    for path, text in tree.items():
        user = folder_of(path)
        if user is not None and user not in CORE and user not in ENGINE:
            yield path, 1, f"src/{user} has no layer in tests/style/layers.py"
            continue
        for line, name in includes(text):
            if message := fault(user, name, torch_headers):
                yield path, line, f"includes {name}: {message}"


def one(path, name):
    return {
        path: f'#include "{name}"\n',
        "include/falconbench/model.h": "#include <ATen/core/Tensor.h>\n",
        "include/falconbench/strategy.h": '#include "falconbench/model.h"\n',
    }


run(
    check,
    r"^(src|include)/.*\.(h|cpp|cu|cuh)$",
    flagged=[
        (one("src/base/text.cpp", "spec/load.h"), "not below"),
        (one("src/spec/load.cpp", "measure/percentile.h"), "not below"),
        (one("src/spec/load.cpp", "plan/make.h"), "not below"),
        (one("src/report/write.cpp", "ATen/core/Tensor.h"), "free of Torch"),
        (one("src/report/write.cpp", "cuda_runtime.h"), "free of Torch"),
        (one("src/cli/main.cpp", "falconbench/strategy.h"), "free of Torch"),
        (one("src/launch/start.cpp", "worker/work.h"), "the engine's worker"),
        (one("src/ops/basic.cpp", "models/module.h"), "not below"),
        (one("src/worker/work.cpp", "cli/guarded.h"), "above it"),
        (one("include/falconbench/plan.h", "base/value.h"), "public header"),
        (one("src/elsewhere/a.cpp", "vector"), "no layer"),
    ],
    passing=[
        one("src/plan/make.cpp", "spec/load.h"),
        one("src/cli/run.cpp", "report/write.h"),
        one("src/train/step.cpp", "models/module.h"),
        one("src/worker/work.cpp", "data/loader.h"),
        one("src/models/module.cpp", "falconbench/strategy.h"),
        one("src/main.cpp", "cli/guarded.h"),
    ],
)
