from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RoundPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROUND_PHASE_UNSPECIFIED: _ClassVar[RoundPhase]
    ROUND_PHASE_OPEN: _ClassVar[RoundPhase]
    ROUND_PHASE_MERGING: _ClassVar[RoundPhase]
    ROUND_PHASE_CLOSED: _ClassVar[RoundPhase]
ROUND_PHASE_UNSPECIFIED: RoundPhase
ROUND_PHASE_OPEN: RoundPhase
ROUND_PHASE_MERGING: RoundPhase
ROUND_PHASE_CLOSED: RoundPhase

class SchemaVersions(_message.Message):
    __slots__ = ("min", "max")
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    min: int
    max: int
    def __init__(self, min: _Optional[int] = ..., max: _Optional[int] = ...) -> None: ...

class PublishRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: PublishHeader
    chunk: bytes
    def __init__(self, header: _Optional[_Union[PublishHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class PublishHeader(_message.Message):
    __slots__ = ("schema_versions", "org", "round", "digest", "compressed_bytes")
    SCHEMA_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    ORG_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    COMPRESSED_BYTES_FIELD_NUMBER: _ClassVar[int]
    schema_versions: SchemaVersions
    org: str
    round: int
    digest: str
    compressed_bytes: int
    def __init__(self, schema_versions: _Optional[_Union[SchemaVersions, _Mapping]] = ..., org: _Optional[str] = ..., round: _Optional[int] = ..., digest: _Optional[str] = ..., compressed_bytes: _Optional[int] = ...) -> None: ...

class PublishReceipt(_message.Message):
    __slots__ = ("org", "round", "digest", "compressed_bytes", "records", "repeated")
    ORG_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    COMPRESSED_BYTES_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    org: str
    round: int
    digest: str
    compressed_bytes: int
    records: int
    repeated: bool
    def __init__(self, org: _Optional[str] = ..., round: _Optional[int] = ..., digest: _Optional[str] = ..., compressed_bytes: _Optional[int] = ..., records: _Optional[int] = ..., repeated: _Optional[bool] = ...) -> None: ...

class PullRequest(_message.Message):
    __slots__ = ("schema_versions", "revision")
    SCHEMA_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    schema_versions: SchemaVersions
    revision: str
    def __init__(self, schema_versions: _Optional[_Union[SchemaVersions, _Mapping]] = ..., revision: _Optional[str] = ...) -> None: ...

class SnapshotChunk(_message.Message):
    __slots__ = ("info", "chunk")
    INFO_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    info: SnapshotInfo
    chunk: bytes
    def __init__(self, info: _Optional[_Union[SnapshotInfo, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class SnapshotInfo(_message.Message):
    __slots__ = ("revision", "schema_version", "digest", "compressed_bytes")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    COMPRESSED_BYTES_FIELD_NUMBER: _ClassVar[int]
    revision: str
    schema_version: int
    digest: str
    compressed_bytes: int
    def __init__(self, revision: _Optional[str] = ..., schema_version: _Optional[int] = ..., digest: _Optional[str] = ..., compressed_bytes: _Optional[int] = ...) -> None: ...

class OpenRoundRequest(_message.Message):
    __slots__ = ("quorum", "deadline_s", "members")
    QUORUM_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_S_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    quorum: int
    deadline_s: float
    members: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, quorum: _Optional[int] = ..., deadline_s: _Optional[float] = ..., members: _Optional[_Iterable[str]] = ...) -> None: ...

class CloseRoundRequest(_message.Message):
    __slots__ = ("round", "force")
    ROUND_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    round: int
    force: bool
    def __init__(self, round: _Optional[int] = ..., force: _Optional[bool] = ...) -> None: ...

class RoundStatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RoundMember(_message.Message):
    __slots__ = ("org", "digest", "compressed_bytes")
    ORG_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    COMPRESSED_BYTES_FIELD_NUMBER: _ClassVar[int]
    org: str
    digest: str
    compressed_bytes: int
    def __init__(self, org: _Optional[str] = ..., digest: _Optional[str] = ..., compressed_bytes: _Optional[int] = ...) -> None: ...

class RoundState(_message.Message):
    __slots__ = ("round", "phase", "quorum", "seconds_left", "members", "contributions", "revision", "revisions", "encoder", "policy", "failure")
    ROUND_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    QUORUM_FIELD_NUMBER: _ClassVar[int]
    SECONDS_LEFT_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    CONTRIBUTIONS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    ENCODER_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    round: int
    phase: RoundPhase
    quorum: int
    seconds_left: float
    members: _containers.RepeatedScalarFieldContainer[str]
    contributions: _containers.RepeatedCompositeFieldContainer[RoundMember]
    revision: str
    revisions: _containers.RepeatedScalarFieldContainer[str]
    encoder: str
    policy: str
    failure: str
    def __init__(self, round: _Optional[int] = ..., phase: _Optional[_Union[RoundPhase, str]] = ..., quorum: _Optional[int] = ..., seconds_left: _Optional[float] = ..., members: _Optional[_Iterable[str]] = ..., contributions: _Optional[_Iterable[_Union[RoundMember, _Mapping]]] = ..., revision: _Optional[str] = ..., revisions: _Optional[_Iterable[str]] = ..., encoder: _Optional[str] = ..., policy: _Optional[str] = ..., failure: _Optional[str] = ...) -> None: ...

class ConflictsRequest(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: str
    def __init__(self, revision: _Optional[str] = ...) -> None: ...

class ConflictsResponse(_message.Message):
    __slots__ = ("revision", "conflicts_json")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_JSON_FIELD_NUMBER: _ClassVar[int]
    revision: str
    conflicts_json: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, revision: _Optional[str] = ..., conflicts_json: _Optional[_Iterable[str]] = ...) -> None: ...

class RouteRequest(_message.Message):
    __slots__ = ("query", "k")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    query: str
    k: int
    def __init__(self, query: _Optional[str] = ..., k: _Optional[int] = ...) -> None: ...

class RouteResponse(_message.Message):
    __slots__ = ("plan_json", "elapsed_ms")
    PLAN_JSON_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    plan_json: str
    elapsed_ms: float
    def __init__(self, plan_json: _Optional[str] = ..., elapsed_ms: _Optional[float] = ...) -> None: ...

class RouterStatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RouterStatus(_message.Message):
    __slots__ = ("revision", "tools", "entries", "encoder", "reranker", "encoded")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    ENCODER_FIELD_NUMBER: _ClassVar[int]
    RERANKER_FIELD_NUMBER: _ClassVar[int]
    ENCODED_FIELD_NUMBER: _ClassVar[int]
    revision: str
    tools: int
    entries: int
    encoder: str
    reranker: str
    encoded: int
    def __init__(self, revision: _Optional[str] = ..., tools: _Optional[int] = ..., entries: _Optional[int] = ..., encoder: _Optional[str] = ..., reranker: _Optional[str] = ..., encoded: _Optional[int] = ...) -> None: ...

class RefreshRequest(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: str
    def __init__(self, revision: _Optional[str] = ...) -> None: ...
