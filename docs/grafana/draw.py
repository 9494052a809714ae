#!/usr/bin/env python3
"""Draws the dashboard's panels with what a Prometheus server answers, without Grafana.

    docs/grafana/draw.py http://127.0.0.1:9090 --minutes 5 > dashboard.svg

Each panel's own queries are asked; `$job` and `$recipe` are all, and `$__rate_interval` is --rate. A query that
Prometheus refuses ends the program with its words; a panel without data says so.
"""

import argparse
import html
import json
import pathlib
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

WIDTH, ROW = 1320, 30  # of the picture, and of a unit of the grid
COLOURS = ["#3274d9", "#e0752d", "#37872d", "#c4162a", "#8f3bb8", "#b7950b", "#0f7f8f", "#b0417a", "#5a5a5a", "#7a9a01"]
UNITS = {"s": (1, " s"), "ops": (1, "/s"), "short": (1, "")}


def ask(server, query, begin, end, step):
    words = urllib.parse.urlencode({"query": query, "start": begin, "end": end, "step": step})
    try:
        with urllib.request.urlopen(f"{server}/api/v1/query_range?{words}", timeout=30) as answer:
            return json.load(answer)["data"]["result"]
    except urllib.error.HTTPError as refused:
        sys.exit(f"{query}\n  {json.load(refused).get('error', refused)}")
    except (OSError, ValueError) as failed:
        sys.exit(f"{server} does not answer as a Prometheus server: {failed}")


def legend(target, labels):
    return re.sub(r"{{(\w+)}}", lambda name: labels.get(name[1], ""), target.get("legendFormat", ""))


def text(x, y, words, size=11, colour="#333", anchor="start", weight="normal"):
    return (f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{html.escape(words)}</text>')


def number(value, unit):
    factor, name = UNITS.get(unit, (1, ""))
    if unit == "s" and 0 < value < 1:
        factor, name = 1000, " ms"
    return f"{value * factor:.3g}{name}"


def panel(shape, series, begin, end):
    """The SVG of one panel: its title, its lines, the largest value, and what the lines are."""
    unit = shape["fieldConfig"]["defaults"].get("unit", "short")
    at, column = shape["gridPos"], WIDTH / 24
    left, top = at["x"] * column + 8, at["y"] * ROW + 6
    width, height = at["w"] * column - 16, at["h"] * ROW - 12
    out = [f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" fill="#fff" stroke="#ddd"/>',
           text(left + 8, top + 17, shape["title"], 12, "#111", weight="bold")]
    plot = (left + 10, top + 28, width - 20, height - 84)
    values = [float(value) for _, points in series for _, value in points if value != "NaN"]
    if not values:
        return out + [text(left + width / 2, top + height / 2, "no data", 12, "#999", "middle")]
    most = max(values) or 1
    out += [f'<line x1="{plot[0]:.0f}" y1="{y:.0f}" x2="{plot[0] + plot[2]:.0f}" y2="{y:.0f}" stroke="#eee"/>'
            for y in (plot[1], plot[1] + plot[3] / 2, plot[1] + plot[3])]
    x, y = left + 10, top + height - 40
    for index, (name, points) in enumerate(series):
        colour = COLOURS[index % len(COLOURS)]
        place = [(plot[0] + plot[2] * (when - begin) / (end - begin), plot[1] + plot[3] * (1 - float(value) / most), when)
                 for when, value in points if value != "NaN"]
        path = "".join(f"{'L' if i and moment - place[i - 1][2] < 15 else 'M'}{px:.0f} {py:.0f}"
                       for i, (px, py, moment) in enumerate(place))
        out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.4"/>')
        if x + 7 * len(name) > left + width - 10:
            x, y = left + 10, y + 13
        out += [f'<rect x="{x:.0f}" y="{y - 7:.0f}" width="9" height="4" fill="{colour}"/>', text(x + 12, y, name, 10)]
        x += 7 * len(name) + 22
    return out + [text(left + width - 10, top + 17, "at the most " + number(max(values), unit), 10, "#777", "end")]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("server", help="a Prometheus server, such as http://127.0.0.1:9090")
    words.add_argument("--minutes", type=float, default=15, help="how much of the time up to now (15)")
    words.add_argument("--rate", default="1m", help="what $__rate_interval is (1m)")
    given = words.parse_args()
    dashboard = json.loads((pathlib.Path(__file__).parent / "custodian.json").read_text())
    end = int(time.time())
    begin = end - int(given.minutes * 60)
    step = max(1, (end - begin) // 180)
    out = []
    for shape in dashboard["panels"]:
        if shape["type"] == "row":
            out.append(text(8, shape["gridPos"]["y"] * ROW + 20, shape["title"], 14, "#111", weight="bold"))
            continue
        series = []
        for target in shape["targets"]:
            query = target["expr"].replace("$__rate_interval", given.rate)
            query = query.replace("$job", ".+").replace("$recipe", ".*")
            series += [(legend(target, found["metric"]), found["values"])
                       for found in ask(given.server, query, begin, end, step)]
        out += panel(shape, series, begin, end)
    bottom = max(shape["gridPos"]["y"] + shape["gridPos"]["h"] for shape in dashboard["panels"]) * ROW + 10
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}" width="{WIDTH}" height="{bottom}" '
          'font-family="DejaVu Sans, Helvetica, Arial, sans-serif"><rect width="100%" height="100%" fill="#f6f6f6"/>')
    print("\n".join(out) + "\n</svg>")


if __name__ == "__main__":
    main()
