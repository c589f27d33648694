"""Every law of a signature, on a record type that exists nowhere else: the merge knows no field by name."""

import ast
import doctest
import random
import re
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from compendia.aggregator import laws, votes
from compendia.aggregator.laws import Context, merge_claims
from compendia.contract import DefinitionConflict, LicenceConflict, Record
from compendia.contract.signature import Law, Role, Signature


def _as(law: Law, role: Role = Role.DOCUMENTATION) -> Signature:
    return Signature(role, law)


Words = Annotated[tuple[str, ...], Field(strict=False)]


class Part(Record):
    """A record inside the record, matched by its key."""

    name: Annotated[str, _as(Law.KEY)]
    colour: Annotated[str, _as(Law.OWNER)] = ""
    tags: Annotated[Words, _as(Law.UNION)] = ()


class Thing(Record):
    """One field for each law."""

    id: Annotated[str, _as(Law.KEY)] = "thing"
    owned: Annotated[str, _as(Law.OWNER)] = ""
    voted: Annotated[str, _as(Law.MAJORITY)] = ""
    added: Annotated[int, _as(Law.SUM)] = 0
    joined: Annotated[Words, _as(Law.UNION)] = ()
    all_kept: Annotated[Words, _as(Law.KEEP_ALL)] = ()
    largest: Annotated[int, _as(Law.MAX)] = 0
    smallest: Annotated[int, _as(Law.MIN)] = 0
    counted: Annotated[int | None, _as(Law.COMPUTED)] = None
    parts: Annotated[tuple[Part, ...], Field(strict=False), _as(Law.OWNER)] = ()


_words = st.lists(st.sampled_from("abcd"), unique=True, max_size=3).map(tuple)
_parts = st.lists(
    st.builds(Part, name=st.sampled_from("xyz"), colour=st.sampled_from(["", "red", "blue"]), tags=_words),
    unique_by=lambda part: part.name,
    max_size=3,
).map(tuple)
_things = st.builds(
    Thing,
    owned=st.sampled_from(["", "p", "q"]),
    voted=st.sampled_from(["", "p", "q"]),
    added=st.integers(-5, 5),
    joined=_words,
    all_kept=_words,
    largest=st.integers(0, 9),
    smallest=st.integers(0, 9),
    parts=_parts,
)
_claims = st.dictionaries(st.sampled_from(["ada", "bee", "cyd", "dot", "eve"]), _things, min_size=1)


def merge(said: dict[str, Thing], owner: str = "") -> tuple[Thing, list[Any]]:
    record, conflicts = merge_claims(Thing, list(said.items()), Context("tool", owner))
    assert isinstance(record, Thing)
    return record, conflicts


def test_the_examples_in_the_docstrings_hold() -> None:
    result = doctest.testmod(votes)
    assert result.attempted >= 3
    assert result.failed == 0


@pytest.mark.parametrize("law", list(laws._LAWS))
def test_the_example_that_a_law_quotes(law: Law) -> None:
    """Its docstring says `X and Y are Z`: X is what the owner claims, Y what another organization does."""
    value = r'(-?\d+|"\w*"|\([^)]*\))'
    quoted = re.search(f"{value} and {value} are {value}", _doc(law))
    if law is Law.KEY:
        assert quoted is None
        return
    assert quoted is not None, _doc(law)
    one, other, expected = (ast.literal_eval(part) for part in quoted.groups())
    (field,) = [f for f in laws.signatures(Thing) if f.signature.law is law and f.element is None]
    said = {"ada": Thing(**{field.name: one}), "bee": Thing(**{field.name: other})}
    assert getattr(merge(said, "ada")[0], field.name) == expected


def _doc(law: Law) -> str:
    return laws._LAWS[law].__doc__ or ""


def test_every_law_that_can_be_declared_can_be_merged() -> None:
    laws_of_thing = {f.signature.law for kind in (Thing, Part) for f in laws.signatures(kind)}
    assert laws_of_thing == set(Law)


@given(_claims, st.sampled_from(["", "ada"]), st.integers(0, 99))
def test_laws_do_not_see_the_order_of_claims(said: dict[str, Thing], owner: str, seed: int) -> None:
    shuffled = list(said.items())
    random.Random(seed).shuffle(shuffled)
    one, other = (
        merge_claims(Thing, claims, Context("tool", owner)) for claims in (list(said.items()), shuffled)
    )
    assert one == other


@given(_claims)
def test_numbers_follow_their_laws(said: dict[str, Thing]) -> None:
    record, _ = merge(said)
    assert record.added == sum(thing.added for thing in said.values())
    assert record.largest == max(thing.largest for thing in said.values())
    assert record.smallest == min(thing.smallest for thing in said.values())
    assert record.counted == len(said)


@given(_claims)
def test_collections_lose_nothing(said: dict[str, Thing]) -> None:
    record, conflicts = merge(said)
    for field in ("joined", "all_kept"):
        assert set(getattr(record, field)) == {
            word for thing in said.values() for word in getattr(thing, field)
        }
    differing = {frozenset(thing.all_kept) for thing in said.values() if thing.all_kept}
    flags = [c for c in conflicts if isinstance(c, LicenceConflict)]
    assert [c.field for c in flags] == (["all_kept"] if len(differing) > 1 else [])
    for flag in flags:
        for claim in flag.dissent:
            assert claim.supporters == tuple(sorted(o for o, t in said.items() if claim.value in t.all_kept))


@given(_claims)
def test_a_vote_has_a_winner_with_most_supporters_and_logs_the_rest(said: dict[str, Thing]) -> None:
    record, conflicts = merge(said)
    counts = {value: sum(t.voted == value for t in said.values()) for value in ("p", "q")}
    if max(counts.values()) == 0:
        assert record.voted == ""
        return
    assert counts[record.voted] == max(counts.values())
    logged = [c for c in conflicts if isinstance(c, DefinitionConflict) and c.field == "voted"]
    assert len(logged) == (1 if min(counts.values()) > 0 else 0)
    for conflict in logged:
        assert conflict.resolved_by == ("digest" if counts["p"] == counts["q"] else "majority")


@given(_claims)
def test_the_owner_is_never_overruled(said: dict[str, Thing]) -> None:
    owner = min(said)
    own = said[owner]
    record, conflicts = merge(said, owner)
    assert record.owned == own.owned
    assert [part.name for part in record.parts] == [part.name for part in own.parts]
    colours = {part.name: part.colour for part in own.parts}
    assert all(part.colour == colours[part.name] for part in record.parts)
    others = {part.name for thing in said.values() for part in thing.parts} - set(colours)
    logged = {c.field for c in conflicts if isinstance(c, DefinitionConflict) and c.resolved_by == "owner"}
    assert {f"parts[{name}]" for name in others} <= logged


@given(_claims)
def test_without_an_owner_parts_of_all_are_matched_by_key(said: dict[str, Thing]) -> None:
    record, _ = merge(said)
    assert {part.name for part in record.parts} == {p.name for thing in said.values() for p in thing.parts}
    for part in record.parts:
        tags = {t for thing in said.values() for p in thing.parts if p.name == part.name for t in p.tags}
        assert set(part.tags) == tags


@given(_things, st.integers(1, 5))
def test_agreement_is_adopted_without_a_word(thing: Thing, count: int) -> None:
    record, conflicts = merge({f"org{n}": thing for n in range(count)}, owner="org0")
    assert conflicts == []
    assert record == thing.model_copy(update={"counted": count, "added": thing.added * count})
