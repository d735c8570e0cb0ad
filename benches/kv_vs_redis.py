#!/usr/bin/env python3
"""Compares kv with redis-server and with kv's front on a DashMap, by redis-benchmark.

    benches/kv_vs_redis.py [--rounds 5] [--requests 200000] [--cores 2] [--no-build]

Needs redis-server and redis-benchmark. Each round runs every server once with each pipeline depth, in turn, so that what
else the machine does falls on all of them; the table shows medians over the rounds. Requests per second and the 99.9th
percentile are what redis-benchmark says; CPU is what the system charged to the server, per request. Everything is on
loopback, and everything that was started is stopped.
"""

import argparse
import contextlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = ("SET", "GET")
TICKS = os.sysconf("SC_CLK_TCK")


def main():
    options = parse_options()
    for tool in ("redis-server", "redis-benchmark"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not installed")
    if not options.no_build:
        build = ["cargo", "build", "--release", "-p", "examples", "--bin", "kv", "-p", "benches", "--bin", "kv_dashmap"]
        subprocess.run(build, cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    cores = str(options.cores)
    commands = {
        "redis-server": lambda port: ["redis-server", "--port", port, "--save", "", "--appendonly", "no"],
        "kv": lambda port: [os.path.join(target, "release", "kv"), "--port", port, "--cores", cores],
        "kv_dashmap": lambda port: [os.path.join(target, "release", "kv_dashmap"), "--port", port, "--workers", cores],
    }
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(running(command)) for name, command in commands.items()}
        results = measure(servers, options)
    report(results, list(commands), options)


def parse_options():
    parser = argparse.ArgumentParser(description="Compares kv with redis-server.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=200_000, help="per test; four times as many when pipelined")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--pipelines", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--no-build", action="store_true")
    return parser.parse_args()


@contextlib.contextmanager
def running(command):
    """Starts a server on a free port, and stops it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(command(str(port)), stdout=subprocess.DEVNULL)
    try:
        wait_until_listening(server, port)
        yield server.pid, port
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_until_listening(server, port):
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except ConnectionRefusedError:
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{server.args[0]} did not start")
            time.sleep(0.05)


def measure(servers, options):
    """Answers {(pipeline, test, server): [(requests per second, CPU µs per request, p99.9 in ms)]}."""
    results = {}
    for round_number in range(options.rounds + 1):
        for pipeline in options.pipelines:
            for test in TESTS:
                for name, (pid, port) in servers.items():
                    sample = one(pid, port, test, pipeline, options.requests)
                    # The first round fills the stores.
                    if round_number > 0:
                        results.setdefault((pipeline, test, name), []).append(sample)
        print(f"round {round_number} of {options.rounds}", file=sys.stderr)
    return results


def one(pid, port, test, pipeline, requests):
    requests *= 4 if pipeline > 1 else 1
    command = ["redis-benchmark", "-p", port, "-t", test.lower(), "-c", 50, "-r", 100_000, "-n", requests, "-P", pipeline]
    before = cpu_seconds(pid)
    output = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
    cpu = (cpu_seconds(pid) - before) * 1e6 / requests
    per_second = float(re.search(r"throughput summary: ([\d.]+)", output).group(1))
    percentiles = re.findall(r"([\d.]+)% <= ([\d.]+) milliseconds", output)
    p999 = next(float(latency) for percentile, latency in percentiles if float(percentile) >= 99.9)
    return per_second, cpu, p999


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def report(results, names, options):
    print(f"{options.rounds} rounds, medians; 50 clients, 100,000 keys, values of 3 bytes, {options.cores} cores")
    for pipeline in options.pipelines:
        for test in TESTS:
            base = statistics.median(sample[0] for sample in results[pipeline, test, names[0]])
            print(f"\n{test}, pipeline {pipeline:<8}{'requests/s':>14}{'ratio':>8}{'CPU µs/request':>17}{'p99.9 ms':>11}")
            for name in names:
                samples = results[pipeline, test, name]
                per_second, cpu, p999 = (statistics.median(column) for column in zip(*samples))
                print(f"{name:<18}{per_second:>18.0f}{per_second / base:>8.2f}{cpu:>17.2f}{p999:>11.3f}")


if __name__ == "__main__":
    main()
