"""What other programs answer over gRPC: a router its plans, an aggregator which snapshot is newest."""

from __future__ import annotations

from compendia.contract import ToolPlan, strict_json
from compendia.wire.channel import DEFAULT_PATIENCE, Patience, call, connect
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorStub, RouterStub


def route(
    address: str, query: str, k: int = 5, patience: Patience = DEFAULT_PATIENCE
) -> tuple[ToolPlan, float]:
    """The plan, and the milliseconds that the router took. Raises CompendiaError."""
    request = pb.RouteRequest(query=query, k=k)
    with connect(address) as channel:
        stub = RouterStub(channel)
        answer = call(
            lambda seconds: stub.Route(request, timeout=seconds, wait_for_ready=patience.wait_for_ready),
            address,
            patience,
        )
    return ToolPlan.model_validate(strict_json.loads(answer.plan_json)), answer.elapsed_ms


def status(address: str, patience: Patience = DEFAULT_PATIENCE) -> pb.RouterStatus:
    """What the router answers from. Raises CompendiaError."""
    with connect(address) as channel:
        stub = RouterStub(channel)
        answer: pb.RouterStatus = call(
            lambda seconds: stub.Status(
                pb.RouterStatusRequest(), timeout=seconds, wait_for_ready=patience.wait_for_ready
            ),
            address,
            patience,
        )
        return answer


def newest_revision(address: str, patience: Patience = DEFAULT_PATIENCE) -> str:
    """The newest snapshot of an aggregator, "" before the first. Raises CompendiaError."""
    with connect(address) as channel:
        stub = AggregatorStub(channel)
        answer = call(
            lambda seconds: stub.RoundStatus(pb.RoundStatusRequest(), timeout=seconds), address, patience
        )
    return str(answer.revision)
