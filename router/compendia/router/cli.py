"""The router's commands: router serve|status, route, explain."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compendia.text.console import guarded, print_json, print_table, progress

if TYPE_CHECKING:
    from compendia.contract import ToolPlan

    from .rerank import Reranker

DEFAULT_ADDRESS = "127.0.0.1:7701"
router_app = typer.Typer(no_args_is_help=True, help="Run the router.")


class RerankerKind(StrEnum):
    """Who orders the candidates: nobody, the local model by query likelihood, an OpenAI-like endpoint."""

    NONE = "none"
    LOCAL = "local"
    ENDPOINT = "endpoint"


Query = Annotated[str, typer.Argument(help="What you want to do, in your words.")]
Candidates = Annotated[int, typer.Option("-k", help="Candidates to consider.", min=1, max=100)]
RouterAddress = Annotated[
    str,
    typer.Option("--router", help="HOST:PORT of a router. Without it and --snapshot: the default address."),
]
SnapshotFile = Annotated[
    Path | None, typer.Option("--snapshot", help="Route here, from a file that `client pull` wrote.")
]
EncoderName = Annotated[str, typer.Option("--encoder", help="minilm (English) or e5 (many languages).")]
RerankerChoice = Annotated[
    RerankerKind,
    typer.Option(
        "--reranker",
        help="Who orders the candidates. Its weight is fitted on a snapshot with experience: minutes, once.",
    ),
]
EndpointUrl = Annotated[str, typer.Option(help="Base URL of the endpoint, such as http://127.0.0.1:8080/v1.")]
EndpointModel = Annotated[str, typer.Option(help="Model name at the endpoint.")]
CacheFile = Annotated[
    Path | None,
    typer.Option("--cache", help="Where encoded documents are kept; else one file for all programs."),
]
Timeout = Annotated[float, typer.Option(help="Seconds to wait for the answer.", min=0.1)]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document.")]


def register(app: typer.Typer) -> None:
    """Add the router's commands to an app."""
    app.add_typer(router_app, name="router")
    app.command()(route)
    app.command()(explain)


@router_app.callback()
def _router() -> None:
    """Run the router."""


@router_app.command()
@guarded
def serve(
    aggregator: Annotated[
        str, typer.Option("--aggregator", "-a", help="HOST:PORT to fetch snapshots from.")
    ] = "",
    snapshot: SnapshotFile = None,
    address: Annotated[str, typer.Option(help="Where to listen; port 0 picks one.")] = DEFAULT_ADDRESS,
    poll: Annotated[
        float, typer.Option(help="Seconds between looks for a newer snapshot; 0: never.", min=0)
    ] = 2.0,
    encoder: EncoderName = "minilm",
    reranker: RerankerChoice = RerankerKind.NONE,
    endpoint_url: EndpointUrl = "",
    endpoint_model: EndpointModel = "",
    cache: CacheFile = None,
    slots: Annotated[int, typer.Option(help="Queries answered at once.", min=1)] = 16,
    port_file: Annotated[Path | None, typer.Option(help="Write the address there once it answers.")] = None,
) -> None:
    """Serve until SIGTERM, from the newest snapshot of an aggregator or from a file.

    Starts without a snapshot and fetches it when there is one; goes on when the aggregator is away.

    Example: compendia router serve --aggregator 127.0.0.1:7700 --reranker local
    """
    import logging

    from compendia.contract import ErrorCode, error
    from compendia.contract.document import read_bytes, snapshot_loads
    from compendia.text.encode import load_encoder
    from compendia.text.places import scores_file, vectors_file
    from compendia.wire.codec import SnapshotReader
    from compendia.wire.fetch import fetch_snapshot
    from compendia.wire.server import Limits
    from compendia.wire.server import serve as run

    from .remote import newest_revision
    from .service import Holder, RouterService

    if bool(aggregator) == (snapshot is not None):
        raise error(ErrorCode.USAGE, "name where snapshots come from", fix="pass --aggregator or --snapshot")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    orderer = _make_reranker(reranker, endpoint_url, endpoint_model)
    loaded = load_encoder(encoder, cache=cache or vectors_file())
    if snapshot is not None:
        file = snapshot
        holder = Holder(
            lambda _: snapshot_loads(read_bytes(file)), loaded, orderer, scores=scores_file(cache)
        )
        holder.refresh()
    else:
        reader = SnapshotReader()
        holder = Holder(
            lambda revision: fetch_snapshot(aggregator, revision, reader=reader),
            loaded,
            orderer,
            poll,
            lambda: newest_revision(aggregator),
            scores_file(cache),
        )
    with holder:
        run([RouterService(holder)], address, Limits(slots=slots), port_file=port_file)


@router_app.command("status")
@guarded
def status_(
    router: RouterAddress = DEFAULT_ADDRESS, timeout: Timeout = 10.0, as_json: AsJson = False
) -> None:
    """What a router answers from: revision, tools, encoder, reranker.

    Example: compendia router status --router 127.0.0.1:7701
    """
    from compendia.wire.channel import Patience

    from .remote import status

    found = status(router, Patience(timeout_s=timeout))
    told = {name: getattr(found, name) for name in found.DESCRIPTOR.fields_by_name}
    if as_json:
        print_json(told)
    else:
        print_table(f"router {router}", ["what", "value"], list(told.items()))


@guarded
def route(
    query: Query,
    k: Candidates = 5,
    router: RouterAddress = "",
    snapshot: SnapshotFile = None,
    encoder: EncoderName = "minilm",
    reranker: RerankerChoice = RerankerKind.NONE,
    endpoint_url: EndpointUrl = "",
    endpoint_model: EndpointModel = "",
    cache: CacheFile = None,
    timeout: Timeout = 60.0,
    as_json: AsJson = False,
) -> None:
    """Plan the calls that answer a query: tools, arguments, the fields to keep; or say that nothing fits.

    Example: compendia route "weather in Oslo tomorrow" --router 127.0.0.1:7701 --json
    """
    plan, elapsed_ms = _plan(
        query, k, router, snapshot, encoder, reranker, endpoint_url, endpoint_model, cache, timeout
    )
    if as_json:
        print_json({**plan.model_dump(mode="json"), "elapsed_ms": round(elapsed_ms, 2)})
        return
    from .show import show_plan

    show_plan(plan)


@guarded
def explain(
    query: Query,
    k: Candidates = 5,
    router: RouterAddress = "",
    snapshot: SnapshotFile = None,
    encoder: EncoderName = "minilm",
    reranker: RerankerChoice = RerankerKind.NONE,
    endpoint_url: EndpointUrl = "",
    endpoint_model: EndpointModel = "",
    cache: CacheFile = None,
    timeout: Timeout = 60.0,
    as_json: AsJson = False,
) -> None:
    """Why this tool: what each feature adds, which precautions are near, which candidates lost by what.

    Example: compendia explain "weather in Oslo tomorrow" --snapshot snapshot.json
    """
    from .explain import explanation

    plan, _ = _plan(
        query, k, router, snapshot, encoder, reranker, endpoint_url, endpoint_model, cache, timeout
    )
    found = explanation(plan)
    if as_json:
        print_json(found)
        return
    from .show import show_explanation

    show_explanation(found)


def _plan(
    query: str,
    k: int,
    router: str,
    snapshot: Path | None,
    encoder: str,
    reranker: RerankerKind,
    endpoint_url: str,
    endpoint_model: str,
    cache: Path | None,
    timeout_s: float,
) -> tuple[ToolPlan, float]:
    """A plan and its milliseconds, from a router or made here from a snapshot file."""
    from compendia.contract import ErrorCode, error

    if snapshot is None:
        from compendia.wire.channel import Patience

        from .remote import route as ask

        return ask(router or DEFAULT_ADDRESS, query, k, Patience(timeout_s=timeout_s))
    if router:
        raise error(ErrorCode.USAGE, "--router and --snapshot exclude each other", fix="pass one of the two")
    import time

    from compendia.contract.document import read_bytes, snapshot_loads
    from compendia.text.encode import load_encoder
    from compendia.text.places import scores_file, vectors_file

    from .route import Router

    with progress("loading the snapshot and the models"):
        loaded = Router(
            snapshot_loads(read_bytes(snapshot)),
            load_encoder(encoder, cache=cache or vectors_file()),
            _make_reranker(reranker, endpoint_url, endpoint_model),
            scores=scores_file(cache),
        )
    started = time.perf_counter()
    return loaded.route(query, k), (time.perf_counter() - started) * 1000


def _make_reranker(kind: RerankerKind, url: str, model: str) -> Reranker | None:
    """Raises USAGE for an endpoint without URL or model, MODEL_MISSING without the local model."""
    if kind is RerankerKind.NONE:
        return None
    if kind is RerankerKind.LOCAL:
        from .language_model import LanguageModel, model_file
        from .likelihood import LikelihoodReranker

        return LikelihoodReranker(LanguageModel(model_file()))
    from compendia.contract import ErrorCode, error

    from .endpoint import EndpointReranker

    if not url or not model:
        raise error(ErrorCode.USAGE, "an endpoint needs --endpoint-url and --endpoint-model", "--reranker")
    return EndpointReranker(url, model)
