#!/usr/bin/env python3
"""The shoot-out: rings against rings, handles against other frameworks, raw channels and the machine's limits.

    benches/shootout.py [--rounds 7] [--quick] [--out DIR]   # builds, measures (some minutes), prints and writes
    benches/shootout.py --from FILE [--out DIR]              # prints and writes what FILE's JSON lines say
    benches/shootout.py --self-test                          # of the rendering

Runs `rings` of the crate `benches` and `benches/compare`, which say what they measured as JSON lines. Prints Markdown
tables, and writes them, two plots and the lines themselves to benches/results, named by the date. `--quick` shows that
all of it runs; its figures mean nothing, and go to a temporary directory.
"""

import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from html import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

OURS = "ours"
FRAMEWORKS = ("kameo", "ractor", "actix", "xtra")
CHANNELS = ("tokio mpsc",)
# Not promised anything: bare queues between threads that spin or block, and what the machine needs for the like.
LIMITS = (
    "rtrb, both spin", "rtrb of cache lines", "crossbeam, threads", "cache line", "eventfd + epoll, bare", "park, bare",
    "the pause alone",
)  # fmt: skip


@dataclass
class Target:
    """`row`'s figure of ours is at most `factor` times the best of `others`, or `limit`, in the row's unit."""

    row: str
    words: str
    factor: float = 0.0
    others: tuple = ()
    limit: float = 0.0


def best_of_frameworks(row, factor, words):
    return Target(row, words, factor, FRAMEWORKS)


TARGETS = [
    Target("W1 St tell", "0.15 × actix", 0.15, ("actix",)),
    best_of_frameworks("W1 X tell", 0.08, "0.08 × the best framework"),
    Target("W1 X tell", "2 × rtrb between pinned threads", 2.0, ("rtrb, both spin",)),
    Target("W2 St ask, mean", "0.35 × actix", 0.35, ("actix",)),
    Target("W2 X ask hot, p50", "2.5 × a cache line's round trip", 2.5, ("cache line",)),
    Target("W2 X ask sleeping, p50", "1.3 × a bare eventfd round trip", 1.3, ("eventfd + epoll, bare",)),
    best_of_frameworks("W2 X ask sleeping, p50", 1.0, "the best framework"),
    Target("W2 X ask sparse, CPU per ask", "1.15 × no spin", 1.15, ("ours, no spin",)),
    best_of_frameworks("W3 X 64 callers", 0.15, "0.15 × the best framework"),
    Target("busy actors, ask, p99", "100 µs", limit=100_000.0),
]
# "Ahead of every framework by 3× or more, and of every async channel"; a sleeping ask is bound by the wake.
for every in ("W1 St tell", "W1 X tell", "W2 St ask, mean", "W2 X ask hot, p50", "W3 St 64 callers", "W3 X 64 callers"):
    TARGETS.append(best_of_frameworks(every, 1 / 3, "a third of the best framework"))
    TARGETS.append(Target(every, "the best async channel", 1.0, CHANNELS))

# What the plot of the handles shows; the tables have all.
PLOTTED = (
    "W1 St tell", "W1 X tell", "W2 St ask, mean", "W2 X ask hot, p50", "W2 X ask sleeping, p50",
    "W2 X ask sparse, CPU per ask", "W3 St 64 callers", "W3 X 64 callers", "busy actors, ask, p50",
    "busy actors, ask, p99", "neighbour, ask hot, p50", "neighbour, ask sparse, CPU per ask",
)  # fmt: skip


def main():
    options = parse_options()
    if options.self_test:
        self_test()
        return
    if options.source:
        with open(options.source, encoding="utf-8") as file:
            lines = file.read().splitlines()
    else:
        lines = measure(options)
    results = Results(lines)
    if not results.tables:
        sys.exit("no figures")
    print(markdown(results, plots={}))
    results_directory = os.path.join(ROOT, "benches/results")
    out = options.out or (tempfile.mkdtemp(prefix="shootout-") if options.quick else results_directory)
    for path in write(results, lines, out, options.date):
        print(f"written: {os.path.relpath(path)}")


def parse_options():
    parser = argparse.ArgumentParser(description="Measures rings and handles, and prints the tables.")
    parser.add_argument("--rounds", type=int, help="rounds of each program, instead of its own default")
    parser.add_argument("--quick", action="store_true", help="shows that it runs, and no more")
    parser.add_argument("--from", dest="source", metavar="FILE", help="render these JSON lines and measure nothing")
    parser.add_argument("--out", metavar="DIR", help="where to write, instead of benches/results")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="what to call the files")
    parser.add_argument("--self-test", action="store_true", help="test the rendering")
    return parser.parse_args()


# === measuring ===


def measure(options):
    """The JSON lines of both programs."""
    passed = ["--quick"] if options.quick else []
    if options.rounds:
        passed += ["--rounds", str(options.rounds)]
    lines = run(["cargo", "run", "--release", "-p", "benches", "--bin", "rings", "--", *passed], ROOT)
    lines += run(["cargo", "run", "--release", "--locked", "--", *passed], os.path.join(ROOT, "benches/compare"))
    return lines


def run(command, directory):
    output = subprocess.run(command, cwd=directory, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line for line in output.splitlines() if line.startswith("{")]


class Results:
    """What JSON lines say: `tables[table][row][subject]` is the figure, in the order of the lines."""

    def __init__(self, lines):
        self.machine = {}
        self.tables = {}
        self.rounds = 0
        for line in filter(str.strip, lines):
            entry = json.loads(line)
            if "machine" in entry:
                self.machine.update(entry["machine"])
                continue
            row = self.tables.setdefault(entry["table"], {}).setdefault(entry["row"], {})
            row[entry["subject"]] = entry
            self.rounds = max(self.rounds, entry.get("rounds", 0))

    def value(self, table, row, subject):
        entry = self.tables.get(table, {}).get(row, {}).get(subject)
        return entry and entry["value"]

    def best(self, table, row, subjects):
        values = [(self.value(table, row, subject), subject) for subject in subjects]
        return min(((value, subject) for value, subject in values if value is not None), default=(None, None))


# === tables ===


def markdown(results, plots):
    parts = [
        "Medians; less is better, except for a neighbour's share. St: on one thread. X: between two pinned threads. "
        "`benches/shootout.py` measures this again.",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in results.machine.items()),
        f"| rounds | {results.rounds} |",
    ]
    if "handles" in results.tables:
        parts += ["", "## Handles", *image(plots, "handles")]
        handles = results.tables["handles"]
        peers = FRAMEWORKS + CHANNELS
        parts += ["", "### Against frameworks and async channels", ""]
        parts += table(results, [row for row in handles if has_any(handles[row], peers)], (OURS, *peers), "best", peers)
        parts += ["", "### By what a shard does before it sleeps", ""]
        variants = [subject for subject in subjects_of(handles) if subject.startswith(OURS)]
        parts += table(results, [row for row in handles if has_any(handles[row], variants[1:])], variants)
        parts += ["", "### Beside bare queues and wakes", ""]
        limits = [subject for subject in subjects_of(handles) if subject in LIMITS]
        parts += table(results, [row for row in handles if has_any(handles[row], limits)], (OURS, *limits))
        parts += ["", "### Targets", "", *targets(results)]
    if "rings" in results.tables:
        rings = results.tables["rings"]
        parts += ["", "## Rings", *image(plots, "rings"), ""]
        parts += table(results, list(rings), subjects_of(rings), name="rings")
    return "\n".join(parts) + "\n"


def image(plots, name):
    return ["", f"![{name}]({plots[name]})"] if name in plots else []


def has_any(row, subjects):
    return any(subject in row for subject in subjects)


def subjects_of(rows):
    """Each subject once, in the order of the lines."""
    return list(dict.fromkeys(subject for row in rows.values() for subject in row))


def table(results, rows, subjects, ratio=None, others=(), name="handles"):
    heads = ["", *subjects] + (["ours / best other"] if ratio else [])
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        entries = results.tables[name][row]
        cells = [shown(entries[subject]) if subject in entries else "" for subject in subjects]
        if ratio:
            ours, (best, _) = results.value(name, row, OURS), results.best(name, row, others)
            cells.append(f"{ours / best:.2f}" if ours is not None and best else "")
        lines.append("| " + " | ".join([row, *cells]) + " |")
    return lines


def shown(entry):
    return quantity(entry["value"], entry["unit"])


def quantity(value, unit):
    """With three digits that count, and a unit to match."""
    if unit == "ns":
        for size, name in ((1e6, "ms"), (1e3, "µs")):
            if value >= size:
                return f"{digits(value / size)} {name}"
    return f"{digits(value)} {unit}"


def digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


@dataclass
class Verdict:
    target: Target
    ours: float
    bound: float
    unit: str

    @property
    def met(self):
        return self.ours <= self.bound


def verdicts(results):
    found = []
    for target in TARGETS:
        ours, (best, _) = results.value("handles", target.row, OURS), results.best("handles", target.row, target.others)
        bound = target.limit or (best and best * target.factor)
        if ours is not None and bound:
            unit = results.tables["handles"][target.row][OURS]["unit"]
            found.append(Verdict(target, ours, bound, unit))
    return found


def targets(results):
    lines = ["| | at most | that is | reached | of the bound | met |", "|---|---|---:|---:|---:|---|"]
    for verdict in verdicts(results):
        target, unit = verdict.target, verdict.unit
        lines.append(
            f"| {target.row} | {target.words} | {quantity(verdict.bound, unit)} | {quantity(verdict.ours, unit)} "
            f"| {verdict.ours / verdict.bound:.2f} | {'yes' if verdict.met else '**no**'} |"
        )
    return lines


# === plots ===

FONT = 12
LINE = 18
LABELS = 150
BARS = 220
VALUES = 70
PANEL = LABELS + BARS + VALUES
GAP = 28
# On white and on black alike.
TEXT = "#808080"
COLOURS = {"ours": "#3b82f6", "variant": "#93b8f0", "peer": "#9ca3af", "limit": "#d9a441"}


@dataclass
class Text:
    x: float
    y: float
    words: str
    anchor: str = "start"
    bold: bool = False

    def box(self):
        """Left, top, right, bottom; a little more than the letters need."""
        width = len(self.words) * FONT * (0.6 if self.bold else 0.56)
        left = self.x - (width if self.anchor == "end" else 0)
        return left, self.y - FONT * 0.8, left + width, self.y + FONT * 0.25

    def svg(self):
        weight = ' font-weight="bold"' if self.bold else ""
        at = f'x="{self.x:.1f}" y="{self.y:.1f}"'
        return f'<text {at} text-anchor="{self.anchor}"{weight}>{escape(self.words)}</text>'


@dataclass
class Bar:
    x: float
    y: float
    width: float
    colour: str

    def box(self):
        return self.x, self.y, self.x + self.width, self.y + LINE - 6

    def svg(self):
        size = f'width="{self.width:.1f}" height="{LINE - 6}"'
        return f'<rect x="{self.x:.1f}" y="{self.y:.1f}" {size} rx="2" fill="{self.colour}"/>'


def plot(title, rows):
    """An SVG of bars: a panel for each row, in two columns of about the same height."""
    return svg(title, *layout(title, rows))


def layout(title, rows):
    """The shapes of a plot, its width and its height."""
    heights = {row: (len(entries) + 1) * LINE + GAP for row, entries in rows.items()}
    half, top = sum(heights.values()) / 2, 2 * LINE + GAP / 2
    shapes = [Text(0, LINE, title, bold=True)]
    column, y, lowest = 0, top, top
    for row, entries in rows.items():
        if column == 0 and y > top and y - top + heights[row] / 2 > half:
            column, y = 1, top
        shapes += panel(row, entries, column * (PANEL + GAP), y)
        y += heights[row]
        lowest = max(lowest, y)
    return shapes, PANEL * (column + 1) + GAP * column, lowest


def panel(row, entries, x, y):
    values = [entry["value"] for entry in entries.values()]
    low, high = min(values), max(values)
    is_log = low > 0 and high / low > 15
    shapes = [Text(x, y, row + (" (log scale)" if is_log else ""), bold=True)]
    for subject, entry in entries.items():
        y += LINE
        if is_log:
            # The shortest bar is a tenth of a decade long, so that it is seen.
            share = (math.log10(entry["value"] / low) + 0.1) / (math.log10(high / low) + 0.1)
        else:
            share = entry["value"] / high if high else 0
        bar = Bar(x + LABELS + 6, y - LINE + 8, max(share * BARS, 1), colour(subject))
        shapes += [Text(x + LABELS, y, subject, "end"), bar, Text(bar.x + bar.width + 6, y, shown(entry))]
    return shapes


def colour(subject):
    if subject == OURS:
        return COLOURS["ours"]
    if subject.startswith(OURS):
        return COLOURS["variant"]
    return COLOURS["limit"] if subject in LIMITS else COLOURS["peer"]


def svg(title, shapes, width, height):
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 {width + 16:.0f} {height:.0f}" '
        f'width="{width + 16:.0f}" '
        f'font-family="system-ui, sans-serif" font-size="{FONT}" fill="{TEXT}" role="img">',
        f"<title>{escape(title)}</title>",
        *(shape.svg() for shape in shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def plots_of(results):
    """The plots that there are figures for, by name."""
    made = {}
    if "rings" in results.tables:
        made["rings"] = plot(f"Rings{shape_of(results)}", results.tables["rings"])
    handles = results.tables.get("handles", {})
    rows = {row: handles[row] for row in PLOTTED if row in handles}
    if rows:
        made["handles"] = plot(f"Handles{shape_of(results)}", rows)
    return made


def shape_of(results):
    machine = results.machine
    return f": {machine['cpus']} × {machine['cpu']}; less is better" if {"cpu", "cpus"} <= machine.keys() else ""


def write(results, lines, out, date):
    os.makedirs(out, exist_ok=True)
    plots = plots_of(results)
    files = {f"{date}-{name}.svg": text for name, text in plots.items()}
    images = {name: f"{date}-{name}.svg" for name in plots}
    files[f"{date}.md"] = f"# Shoot-out of {date}\n\n" + markdown(results, images)
    files[f"{date}.jsonl"] = "".join(line + "\n" for line in lines)
    for name, text in files.items():
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)
    return [os.path.join(out, name) for name in files]


# === the rendering's own test ===


def self_test():
    entries = [
        ("handles", "W1 X tell", "ours", 40.0, "ns"),
        ("handles", "W1 X tell", "kameo", 600.0, "ns"),
        ("handles", "W1 X tell", "rtrb, both spin", 22.5, "ns"),
        ("handles", "W2 X ask hot, p50", "ours", 1234.0, "ns"),
        ("handles", "W2 X ask hot, p50", "cache line", 310.0, "ns"),
        ("handles", "busy actors, ask, p99", "ours", 7_000_000.0, "ns"),
        ("handles", "neighbour, ask hot, the neighbour's share", "ours, no spin", 62.5, "%"),
        ("rings", "1:1 <push> & pop", "lanes", 25.0, "ns"),
        ("rings", "1:1 <push> & pop", "mutex", 257.0, "ns"),
    ]
    names = ("table", "row", "subject", "value", "unit")
    lines = ['{"machine":{"cpu":"A & B","cpus":2}}'] + [json.dumps(dict(zip(names, entry))) for entry in entries]
    results = Results(lines)
    plots, text = plots_of(results), markdown(results, {})
    assert set(plots) == {"rings", "handles"}
    for drawn in plots.values():
        xml.fromstring(drawn)
    for name, row, _, value, unit in entries:
        assert quantity(value, unit) in text, (row, value)
        if name == "rings" or row in PLOTTED:
            assert f">{quantity(value, unit)}</text>" in plots[name], (row, value)
    assert [quantity(value, "ns") for value in (9.5, 310, 1234, 7e6)] == ["9.50 ns", "310 ns", "1.23 µs", "7.00 ms"]
    # 40 is below 600 × 0.08 = 48, and below 2 × 22.5; 1234 is above 2.5 × 310; 7 ms is above 100 µs.
    by_words = {verdict.target.words: verdict.met for verdict in verdicts(results)}
    assert by_words["0.08 × the best framework"] and by_words["2 × rtrb between pinned threads"]
    assert not by_words["2.5 × a cache line's round trip"] and not by_words["100 µs"]
    assert text.count("**no**") == 2, text
    assert "| 0.07 |" in text, "ours / best other"
    # Nothing lies on anything else or outside, with every subject in every row and with long names.
    everybody = (OURS, "ours, always spin", *FRAMEWORKS, *CHANNELS, *LIMITS)
    crowd = {subject: {"value": 10.0 ** (at % 7), "unit": "ns"} for at, subject in enumerate(everybody)}
    shapes, width, height = layout("a title", {row: crowd for row in PLOTTED})
    assert faults(shapes, width, height) == []
    # The check itself sees a text that is moved onto another, and one that leaves the page.
    shapes.append(Text(shapes[1].x + 3, shapes[1].y + 3, "misplaced"))
    shapes.append(Text(width - 10, 20, "too far right"))
    assert len(faults(shapes, width, height)) >= 2
    print("the rendering is as it should be")


def faults(shapes, width, height):
    """Shapes that overlap or leave the page."""
    found = []
    boxes = [shape.box() for shape in shapes]
    for at, (left, top, right, bottom) in enumerate(boxes):
        if left < -8 or top < 0 or right > width + 8 or bottom > height:
            found.append(f"outside: {shapes[at]}")
        for other, (left2, top2, right2, bottom2) in enumerate(boxes[:at]):
            if left < right2 and left2 < right and top < bottom2 and top2 < bottom:
                found.append(f"{shapes[at]} on {shapes[other]}")
    return found


if __name__ == "__main__":
    main()
