"""The folders of src/ from the bottom up (docs/ARCHITECTURE.md): the one list that the checks read."""

# Torch-free: level by folder. An include goes to a lower level or stays in its folder.
CORE = {
    "base": 0,
    "spec": 1,
    "weights": 1,
    "measure": 1,
    "platform": 1,
    "plan": 2,
    "telemetry": 3,
    "data": 3,
    "report": 3,
    "launch": 3,
    "analysis": 4,
    "cli": 6,
    "main.cpp": 7,
}
# In libfalconbench_engine.so. These may use the Torch-free folders up to ENGINE_FLOOR.
ENGINE = {"comm": 0, "ops": 0, "models": 1, "links": 1, "parallel": 2, "train": 2, "worker": 3}
ENGINE_FLOOR = 3

TORCH_HEADERS = r"(ATen|torch|c10d?|caffe2|nccl|cuda|cuda_\w+|cudnn|cublas\w*|nvtx3)([/.]|_\w+\.h)"


def folder_of(path):
    """src/spec/load.cpp -> spec; src/main.cpp -> main.cpp; None outside of src."""
    parts = path.split("/")
    return parts[1] if len(parts) > 1 and parts[0] == "src" else None


def is_engine(path):
    return folder_of(path) in ENGINE
