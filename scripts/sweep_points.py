"""The points of a sweep: files and lists to a grid, their names, and the order they are run in."""

import hashlib
import itertools
import os
import random
import re
import shlex

CLOSING = {"[": "]", "{": "}", "(": ")"}
MATRIX = "sweep.txt"  # beside the specs: their grids when the command line gives none
# What takes long to change, or changes the state of the machine: composition of the chassis, caches of storage.
COSTLY = ("system", "topology", "storage", "data.path", "data.format")


class Fault(Exception):
    """What is wrong with the sweep itself."""


def split_list(text):
    """The values between the commas that stand outside of brackets, braces and quotes."""
    values, start, expected, quote = [], 0, [], None
    for place, char in enumerate(text):
        if quote:
            quote = None if char == quote and (quote == "'" or text[place - 1] != "\\") else quote
        elif char in "'\"" and (place == start or text[place - 1] in " [{(,:"):
            quote = char  # an apostrophe inside a word opens nothing
        elif char in CLOSING:
            expected.append(CLOSING[char])
        elif expected and char == expected[-1]:
            expected.pop()
        elif char == "," and not expected:
            values.append(text[start:place])
            start = place + 1
    if quote or expected:
        raise Fault(f"'{text}' lacks a closing {quote or expected[-1]}")
    values = [value.strip() for value in [*values, text[start:]]]
    if "" in values:
        raise Fault(f"'{text}' has an empty value")
    return values


def axes_of(settings):
    """[(key, [value, ...])] of the --set arguments."""
    axes = []
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise Fault(f"--set '{setting}' is not key=value,value,...")
        if key in (known for known, _ in axes):
            raise Fault(f"--set {key} is given twice: list its values once, {key}=a,b")
        axes.append((key, split_list(text)))
    return axes


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def name_of(file, settings):
    """A file name that says the settings; what had to be left out of it is told apart by a hash."""
    plain = "-".join([os.path.splitext(os.path.basename(file))[0], *(f"{key}={value}" for key, value in settings)])
    name = re.sub(r"[^A-Za-z0-9._=+-]+", "_", plain)[:120].lstrip(".")
    return name if name == plain else f"{name}-{digest(plain)}"


def matrix_grids(file):
    """Grids of the lines for this file in sweep.txt beside it: `NAME key=a,b key=c`, * for every file; none: one plain
    point. Words are quoted as in a shell."""
    path = os.path.join(os.path.dirname(file), MATRIX)
    grids = []
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                words = shlex.split(line, comments=True)
                if words and words[0] in ("*", os.path.basename(file)):
                    grids.append(axes_of(words[1:]))
    return grids or [[]]


def matrix_points(file, fixed):
    """Points of matrix_grids. fixed: axes of one value, which go to every point and win over its own. They tell no
    point from another, so names have a hash of them only."""
    points = []
    for grid in matrix_grids(file):
        for point in grid_points(file, [axis for axis in grid if axis[0] not in dict(fixed)]):
            point["settings"] |= {key: values[0] for key, values in fixed}
            if fixed and os.path.isfile(os.path.join(os.path.dirname(file), MATRIX)):
                point["name"] += "-" + digest(repr(fixed))
            elif fixed:
                point["name"] = name_of(file, list(point["settings"].items()))
            points.append(point)
    return points


def grid_points(file, axes):
    points = []
    for values in itertools.product(*(values for _, values in axes)):
        settings = list(zip((key for key, _ in axes), values))
        points.append({"name": name_of(file, settings), "file": file, "settings": dict(settings)})
    return points


def points_of(files, grids):
    """One dict a point; files outermost, the last key fastest. Without a list in the grids each file has those of
    sweep.txt beside it. A point that two grids hold counts once. Two files of the same name get a hash of their path."""
    points = []
    has_lists = len(grids) > 1 or any(len(values) > 1 for grid in grids for _, values in grid)
    for file in files:
        if not os.path.isfile(file):
            raise Fault(f"{file}: no such file")
        of_file = []
        for fresh in (
            [grid_points(file, axes) for axes in grids] if has_lists else [matrix_points(file, grids[0] if grids else [])]
        ):
            if has_lists and len({repr(point["settings"]) for point in fresh}) < len(fresh):
                raise Fault("the same point occurs twice: a value is listed twice")
            for point in fresh:
                if point not in of_file:
                    of_file.append(point)
        points += of_file
    names = [point["name"] for point in points]
    for point in points:
        if names.count(point["name"]) > 1:
            point["name"] += "-" + digest(os.path.abspath(point["file"]) + repr(point["settings"]))
    if len({point["name"] for point in points}) < len(points):
        raise Fault("the same point occurs twice: a file is listed twice")
    return points


def repeated(points, repeats):
    """Each point as many times, next to each other; the first keeps its name."""
    return [
        {**point, "name": point["name"] + (f"-r{number}" if number > 1 else ""), "repeat": number}
        for point in points
        for number in range(1, repeats + 1)
    ]


def ordered(points, order):
    """least: what is costly to change changes least often, else as given. shuffled, or shuffled:SEED: against drift,
    the same for the same points. given: as given."""
    word, _, seed = order.partition(":")
    if word == "shuffled" and (seed.isdigit() or not seed):
        points = list(points)
        random.Random(int(seed or 0)).shuffle(points)
        return points
    if order == "given":
        return points
    if order != "least":
        raise Fault(f"--order {order} is none of least, shuffled, shuffled:SEED, given")
    seen = {key: {} for key in COSTLY}
    for point in points:
        for key in COSTLY:
            value = point["settings"].get(key)
            seen[key].setdefault(value, len(seen[key]))
    return sorted(points, key=lambda point: [seen[key][point["settings"].get(key)] for key in COSTLY])
