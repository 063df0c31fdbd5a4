"""The work of scripts/check_page.sh."""

import argparse
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SIZES = {"desktop": (1280, 900), "phone": (500, 900)}  # Chromium's smallest window is 500 wide
# Runs after the page's own scripts: what a reader would do, and what the page looks like, as attributes of <html>.
PROBE = """
<script>
(function () {
  var root = document.documentElement;
  document.querySelectorAll('details').forEach(function (details) { details.open = true; });
  var closed = HTMLElement.prototype.click, saved = 0;
  HTMLAnchorElement.prototype.click = function () { if (this.download) saved++; else closed.call(this); };
  document.querySelectorAll('.tools button').forEach(function (button) {
    if (button.textContent === 'Save as SVG') button.click();
  });
  setTimeout(function () {
    root.setAttribute('data-saved', saved);
    root.setAttribute('data-tables', document.querySelectorAll('figure table').length);
    root.setAttribute('data-overflow', Math.max(0, root.scrollWidth - window.innerWidth));
    root.setAttribute('data-loaded', performance.getEntriesByType('resource').filter(function (entry) {
      return !/^(blob|data):/.test(entry.name);
    }).length);
  }, 300);
})();
</script>
"""


def chromium():
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def open_page(program, page, size, dark, picture, profile):
    """(the document after its scripts, what the console said)."""
    command = [
        program,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--hide-scrollbars",
        f"--user-data-dir={profile}",
        "--enable-logging=stderr",
        "--v=0",
        f"--window-size={size[0]},{size[1]}",
        "--virtual-time-budget=10000",
        *(["--blink-settings=preferredColorScheme=0"] if dark else []),
        *([f"--screenshot={picture}"] if picture else ["--dump-dom"]),
        page.as_uri(),
    ]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=300, check=False
    )
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return done.stdout, console


def attribute(document, name):
    found = re.search(rf"<html[^>]*\b{name}=\"([^\"]*)\"", document)
    return html.unescape(found.group(1)) if found else None


def faults_of(document, console):
    yield from (f"console: {line}" for line in console)
    if attribute(document, "data-ready") != "yes":
        yield "the page's script did not end"
        return
    cards = re.findall(r"<figure[^>]*>", document)
    states = [match.group(1) for card in cards if (match := re.search(r'data-drawn="(\w+)"', card))]
    if not cards or len(states) != len(cards) or "no" in states:
        yield f"{len(cards)} charts, of which {states.count('yes')} drawn and {states.count('empty')} empty"
    if states.count("yes") != int(attribute(document, "data-saved") or -1):
        yield f"{states.count('yes')} charts, {attribute(document, 'data-saved')} saved as SVG"
    if states.count("yes") != int(attribute(document, "data-tables") or -1):
        yield f"{states.count('yes')} charts, {attribute(document, 'data-tables')} tables below them"
    if attribute(document, "data-overflow") != "0":
        yield f"the page is {attribute(document, 'data-overflow')} pixels wider than the window"
    if attribute(document, "data-loaded") != "0":
        yield f"{attribute(document, 'data-loaded')} things were loaded"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check_page.sh", allow_abbrev=False)
    parser.add_argument("pages", nargs="+", metavar="FILE.html")
    parser.add_argument("--pictures", metavar="DIR", help="keep a PNG of each page and width")
    given = parser.parse_args()
    program = chromium()
    if not program:
        print("skipped: no Chromium on this machine")
        return SKIPPED
    faulty = False
    if given.pictures:
        os.makedirs(given.pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in given.pages:
            text = pathlib.Path(name).read_text(encoding="utf-8")
            probed = pathlib.Path(folder) / "page.html"
            probed.write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
            for width, size in SIZES.items():
                for dark in (False, True):
                    label = f"{name}, {width}, {'dark' if dark else 'light'}"
                    found = list(faults_of(*open_page(program, probed, size, dark, None, f"{folder}/profile")))
                    faulty = faulty or bool(found)
                    print(f"{label}: {'; '.join(found) or 'fine'}", flush=True)
                    if given.pictures:
                        stem = pathlib.Path(name).stem
                        picture = os.path.join(given.pictures, f"{stem}-{width}-{'dark' if dark else 'light'}.png")
                        tall = (size[0], 8000)
                        open_page(program, pathlib.Path(name).resolve(), tall, dark, picture, f"{folder}/profile")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
