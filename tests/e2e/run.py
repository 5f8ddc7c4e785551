#!/usr/bin/env python3
"""Runs published codex clients against a holdfast server. README.md in this folder says what that proves."""
import argparse
import asyncio
import contextlib
import os
import pathlib
import signal
import sys
import tempfile

import children
import clients
import versions
from play import Report, run_scenario
from scenarios import SCENARIOS


def work_folder(cache, keep):
    """In the cache, or at home if the cache belongs to another user.

    Not below /tmp: sandboxes may write there, and a client whose home lies there makes no links to its helpers.
    """
    for parent in (cache, absolute(pathlib.Path.home())):
        if not parent.is_relative_to("/tmp") and os.access(parent, os.W_OK):
            place = {"dir": parent, "prefix": ".holdfast-e2e-"}
            return contextlib.nullcontext(tempfile.mkdtemp(**place)) if keep else tempfile.TemporaryDirectory(**place)
    sys.exit("e2e: the cache folder or the home directory has to be a folder to write to outside /tmp: below /tmp the "
             "sandboxes would prove nothing")


async def run_all(options, found, report):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, asyncio.current_task().cancel)
    with work_folder(options.cache, options.keep) as work:
        for client in found:
            for name in options.scenarios:
                folder = pathlib.Path(work) / f"{client.version}-{name}"
                await run_scenario(folder, options.server, client, SCENARIOS[name], report)
        if options.keep:
            print(f"kept {work}")


def absolute(path):
    return pathlib.Path(path).resolve()


def listed(text):
    return text.replace(",", " ").split()


def names(known):
    def parse(text):
        chosen = listed(text) or list(known)
        if unknown := set(chosen) - set(known):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not among {', '.join(known)}")
        return chosen
    return parse


def parse_options():
    root = absolute(__file__).parent.parent.parent
    cache = os.environ.get("HOLDFAST_E2E_CACHE") or str(root / "build/e2e-cache")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=absolute, default=root / "build/release/bin/holdfast")
    parser.add_argument("--clients", type=listed, default="", help=f"versions; empty for {', '.join(versions.DEFAULT)}")
    parser.add_argument("--scenarios", type=names(SCENARIOS), default="", help="names; empty for all")
    parser.add_argument("--cache", type=absolute, default=cache, help="where fetched clients are kept")
    parser.add_argument("--keep", action="store_true", help="leave the work folder, with logs and traffic")
    return parser.parse_args()


def main():
    options = parse_options()
    if not options.server.is_file():
        sys.exit(f"e2e: {options.server}: no such server; make build makes it")
    children.adopt_orphans()
    report = Report()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("e2e: interrupted"))
    try:
        found = [clients.find(options.cache, version) for version in options.clients or versions.DEFAULT]
        asyncio.run(run_all(options, found, report))
    except clients.NoClient as problem:
        sys.exit(f"e2e: {problem}")
    except (asyncio.CancelledError, KeyboardInterrupt):
        sys.exit("e2e: interrupted")
    counts = report.counts
    print(f"e2e: {counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    return 1 if counts["FAIL"] else 0


sys.exit(main())
