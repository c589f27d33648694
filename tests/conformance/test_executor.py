"""What every `Executor` must do. A new one is one more line in `MAKERS`."""

from collections.abc import Callable, Iterator

import pytest
from golden_leaves import GOLDEN

from compendia.aggregator.executor import (
    Executor,
    ProcessExecutor,
    RayExecutor,
    SerialExecutor,
    make_executor,
)
from compendia.aggregator.view import view
from compendia.contract import CompendiaError, ErrorCode
from compendia.contract.document import snapshot_dumps
from compendia.contract.ids import check_part
from compendia.text.encode import HashingEncoder

MAKERS: dict[str, Callable[[], Executor]] = {
    "serial": SerialExecutor,
    "process": lambda: ProcessExecutor(2),
    "ray": lambda: RayExecutor(2),
}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.process) for name in MAKERS])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with MAKERS[request.param]() as made:
        yield made


def test_results_keep_the_order(executor: Executor) -> None:
    assert executor.map(abs, list(range(-50, 0))) == list(range(50, 0, -1))
    assert executor.map(abs, []) == []
    assert executor.map(abs, [-1]) == [1]


def test_an_error_arrives_as_it_was_raised(executor: Executor) -> None:
    with pytest.raises(CompendiaError) as caught:
        executor.map(check_part, ["fine", "Not fine", "fine"])
    assert caught.value.code is ErrorCode.BAD_ID
    assert executor.map(abs, [-3]) == [3]  # and it still works


def test_the_snapshot_has_the_same_bytes(executor: Executor) -> None:
    def merged(with_executor: Executor) -> str:
        found = view(
            GOLDEN, grants={"acme": "ada"}, encoder=HashingEncoder(64), executor=with_executor, round=1
        )
        return snapshot_dumps(found)

    assert merged(executor) == merged(SerialExecutor())


def test_an_unknown_executor_is_refused() -> None:
    with pytest.raises(CompendiaError) as caught:
        make_executor("threads")  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.USAGE
