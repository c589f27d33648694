"""The contract is for everyone: it pulls in pydantic and nothing that weighs."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"grpc", "google", "torch", "faiss", "ray", "transformers", "numpy", "sqlalchemy", "sklearn", "scipy"}


@pytest.mark.process
@pytest.mark.parametrize(
    "module",
    ["compendia.contract", "compendia.contract.document", "compendia.text.mask", "compendia.text.tokenize"],
)
def test_nothing_heavy_comes_along(module: str) -> None:
    program = f"import sys, {module}; print(*sorted({HEAVY!r} & {{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.process
def test_a_compendium_is_validated_with_the_contract_alone() -> None:
    program = (
        "import sys\n"
        "from compendia.contract import document, CompendiaError\n"
        'made = document.loads(\'{"schema_version":1,"org":"x","tools":[{"id":"a/b/c"}]}\')\n'
        "assert made.tools[0].id == 'a/b/c'\n"
        "assert not {'grpc', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
