"""Publishing a large compendium to a real aggregator process: bytes on the wire, and the memory it takes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from compendia.contract import Compendium, ErrorCode, error
from compendia.contract.document import dumps

from .benchmark import Figures, Session
from .large import MEGABYTE, large_compendium
from .memory import PeakMemory

JSON_MB = 20.0
CLIENTS = 8
PATIENCE_S = 900.0
START_S = 120.0
SETTLE_S = 1.0


def wire(session: Session) -> Figures:
    """Megabytes (1e6 bytes) of the compendium as JSON, and as the bytes that travel."""
    from compendia.client.publish import encoded

    compendium = _compendium(session)
    with encoded(compendium) as upload:
        sent = upload.wire_bytes / MEGABYTE
    return {"publish_wire_mb": sent, "publish_json_mb": len(dumps(compendium).encode()) / MEGABYTE}


def memory(clients: int) -> Callable[[Session], Figures]:
    """MiB by which an aggregator process peaks over its idle state while `clients` publish at once."""

    def measure(session: Session) -> Figures:
        compendium = _compendium(session)
        parts = [compendium.model_copy(update={"org": f"client-{number}"}) for number in range(clients)]
        with tempfile.TemporaryDirectory() as directory, aggregator(Path(directory)) as (pid, address):
            _open_round(address)
            time.sleep(SETTLE_S)
            started = time.perf_counter()
            with PeakMemory(pid) as watched:
                receipts = _publish_all(address, parts)
        session.notes[f"publish_rss/{clients}"] = {
            "idle_mb": round(watched.idle_mb, 1),
            "seconds": round(time.perf_counter() - started, 2),
            "records": receipts,
        }
        return {f"publish_rss_mb/{clients}": watched.growth_mb}

    return measure


@contextmanager
def aggregator(directory: Path) -> Iterator[tuple[int, str]]:
    """A `compendia aggregator serve` process on a free port: its pid and address. Ends with the block."""
    command = Path(sys.executable).parent / "compendia"
    port_file, log = directory / "address", directory / "log"
    words = [str(command), "aggregator", "serve", "--db", str(directory / "aggregator.db")]
    words += ["--address", "127.0.0.1:0", "--port-file", str(port_file)]
    with log.open("wb") as stream:
        process = subprocess.Popen(words, stdout=stream, stderr=stream)
    try:
        deadline = time.monotonic() + START_S
        while not port_file.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise error(
                    ErrorCode.UNREACHABLE,
                    f"the aggregator did not start: {log.read_text(errors='replace')[-800:]}",
                    "aggregator",
                )
            time.sleep(0.05)
        yield process.pid, port_file.read_text().strip()
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _compendium(session: Session) -> Compendium:
    megabytes = JSON_MB if session.options.limit is None else session.options.limit / 1000
    return session.once("publish_document", lambda: large_compendium(session, "client-0", megabytes))


def _open_round(address: str) -> None:
    from compendia.aggregator.control import open_round
    from compendia.wire.channel import Patience

    open_round(address, patience=Patience(START_S, wait_for_ready=True))


def _publish_all(address: str, parts: Sequence[Compendium]) -> list[int]:
    """Publish from as many threads as there are compendia; returns how many records each receipt counts."""
    from compendia.client.publish import publish
    from compendia.wire.channel import Patience

    def send(part: Compendium) -> int:
        return publish(address, part, patience=Patience(PATIENCE_S)).records

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(send, parts))
