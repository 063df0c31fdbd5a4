"""Weight files read and written by another hand than the program's: the format as its authors describe it."""

import json
import struct

SIZES = {"F32": 4, "F16": 2, "BF16": 2, "I64": 8}


def read(path):
    """(name -> (dtype, shape, bytes), metadata)."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    data = content[8 + length :]
    tensors, covered = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        size = SIZES[entry["dtype"]]
        for side in entry["shape"]:
            size *= side
        if begin != covered or end - begin != size:
            raise ValueError(f"{name}: bytes {begin} to {end}, expected {size} from {covered}")
        covered = end
        tensors[name] = (entry["dtype"], entry["shape"], data[begin:end])
    if covered != len(data):
        raise ValueError(f"{len(data) - covered} bytes too many")
    return tensors, metadata


def write(path, tensors, metadata=None):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def widened(tensor):
    """A tensor of F16 as F32."""
    dtype, shape, content = tensor
    assert dtype == "F16"
    numbers = struct.unpack(f"<{len(content) // 2}e", content)
    return "F32", shape, struct.pack(f"<{len(numbers)}f", *numbers)


def narrowed(tensor):
    """The other way round; counts stay."""
    dtype, shape, content = tensor
    if dtype != "F32":
        return tensor
    numbers = struct.unpack(f"<{len(content) // 4}f", content)
    return "F16", shape, struct.pack(f"<{len(numbers)}e", *numbers)
