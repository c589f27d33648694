"""The generated gRPC code is what the proto file gives."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _gen_proto(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(root / "scripts" / "gen-proto"), *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_committed_code_is_fresh() -> None:
    result = _gen_proto(ROOT, "--check")
    assert result.returncode == 0, result.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout of the script and the proto folder alone."""
    folder = Path("proto/compendia/wire/v1")
    for path in [Path("scripts/gen-proto"), *(p.relative_to(ROOT) for p in (ROOT / folder).glob("*.p*"))]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    return tmp_path


def test_a_changed_proto_is_noticed_and_mended(copy: Path) -> None:
    proto = copy / "proto/compendia/wire/v1/compendia.proto"
    proto.write_text(
        proto.read_text().replace("message RefreshRequest {", "message RefreshRequest {\n  bool x = 9;")
    )
    stale = _gen_proto(copy, "--check")
    assert stale.returncode == 1
    assert "compendia_pb2.py" in stale.stderr
    assert "compendia_pb2.pyi" in stale.stderr
    assert _gen_proto(copy).returncode == 0
    assert _gen_proto(copy, "--check").returncode == 0


def test_code_that_nothing_generates_is_noticed(copy: Path) -> None:
    (copy / "proto/compendia/wire/v1/gone_pb2.py").write_text("")
    stale = _gen_proto(copy, "--check")
    assert stale.returncode == 1
    assert "gone_pb2.py" in stale.stderr
