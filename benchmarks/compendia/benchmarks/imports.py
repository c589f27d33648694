"""`imports`: every source file of the datasets through the importers; what came out, and what did not.

A file imports with every operation in it, or fails with one clear message. Anything but a `CompendiaError`
that an importer raises ends the run: it is a fault, not a result.
"""

from __future__ import annotations

import time

from .benchmark import Benchmark, Figures, Part, Session
from .datasets import data_directory

REQUIRED = ("openapi", "mcp", "restbench", "stabletoolbench")


def measure(session: Session) -> Figures:
    """Files, failures, losses, operations expected and made, tools; also per dataset."""
    from compendia.client.importers.report import find_sources, import_row

    directory = data_directory(session.options.data)
    for name in REQUIRED:
        session.dataset(name)
    sources = find_sources(directory)[: session.options.limit]
    figures: dict[str, int] = {}
    failed, incomplete = [], []
    with session.log("files") as log:
        for kind, path in session.track(sources, "imports"):
            row = import_row(kind, path, directory, clock=time.perf_counter)
            session.record_input(row.file, path)
            counted = {
                "files": 1,
                "failures": int(bool(row.failure)),
                "incomplete": int(not row.whole),
                "operations_expected": row.expected,
                "operations": row.endpoints,
                "tools": row.tools,
            }
            for key, value in counted.items():
                for name in (key, f"{key}/{row.file.split('/')[0]}"):
                    figures[name] = figures.get(name, 0) + value
            if row.failure:
                failed.append(f"{row.file}: {row.failure}")
            elif not row.whole:
                incomplete.append(f"{row.file}: {row.endpoints} of {row.expected} operations")
            log.write(file=row.file, kind=kind, **counted, notices=list(row.notices), failure=row.failure)
    session.notes |= {"failed": failed, "incomplete": incomplete}
    return dict(sorted(figures.items(), key=lambda item: item[0].count("/")))


IMPORTS = Benchmark(
    "imports",
    "every OpenAPI, MCP, function-list and ToolBench file of the datasets through the importers",
    (Part(("files*", "failures*", "incomplete*", "operations*", "tools*"), measure),),
)
