"""The tables of `SqlStore`. What must never be, such as two digests in one place, is a constraint here."""

from __future__ import annotations

import sqlalchemy as sa

META = sa.MetaData()
ROUNDS = sa.Table(
    "rounds",
    META,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("phase", sa.String, nullable=False),
    sa.Column("quorum", sa.Integer, nullable=False),
    sa.Column("deadline", sa.Float),
    sa.Column("members", sa.JSON, nullable=False),
    sa.Column("failure", sa.String, nullable=False),
)
CONTRIBUTIONS = sa.Table(
    "contributions",
    META,
    sa.Column("org", sa.String, primary_key=True),
    sa.Column("round", sa.ForeignKey("rounds.number"), primary_key=True),
    sa.Column("digest", sa.String, primary_key=True),
    sa.Column("compressed_bytes", sa.Integer, nullable=False),
    sa.Column("records", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("org", "round", name="one_digest_a_round"),
)
WINDOWS = sa.Table(
    "windows",
    META,
    sa.Column("org", sa.String, primary_key=True),
    sa.Column("round", sa.Integer, primary_key=True),
    sa.Column("digest", sa.String, primary_key=True),
    sa.Column("start", sa.String, nullable=False),
    sa.Column("end", sa.String, nullable=False),
    sa.ForeignKeyConstraint(
        ["org", "round", "digest"], ["contributions.org", "contributions.round", "contributions.digest"]
    ),
)
EQUIVOCATIONS = sa.Table(
    "equivocations",
    META,
    sa.Column("org", sa.String, primary_key=True),
    sa.Column("round", sa.ForeignKey("rounds.number"), primary_key=True),
    sa.Column("refused", sa.String, primary_key=True),
    sa.Column("kept", sa.String, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
SNAPSHOTS = sa.Table(
    "snapshots",
    META,
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("revision", sa.String, unique=True, nullable=False),
    sa.Column("round", sa.ForeignKey("rounds.number"), nullable=False),
    sa.Column("digest", sa.String, nullable=False),
    sa.Column("compressed_bytes", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
