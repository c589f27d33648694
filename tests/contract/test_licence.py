"""Licences: SPDX expressions in one spelling, or a named policy."""

from __future__ import annotations

import pytest

from compendia.contract import CompendiaError, ErrorCode
from compendia.contract.licence import check_licence


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("MIT", "MIT"),
        ("mit", "MIT"),
        ("MIT or Apache-2.0", "MIT OR Apache-2.0"),
        ("GPL-2.0-or-later WITH Classpath-exception-2.0", "GPL-2.0-or-later WITH Classpath-exception-2.0"),
        ("(MIT AND BSD-3-Clause) OR Apache-2.0", "(MIT AND BSD-3-Clause) OR Apache-2.0"),
        ("LicenseRef-scancode-public-domain", "LicenseRef-scancode-public-domain"),
        ("custom:Acme internal use v1.2", "custom:Acme internal use v1.2"),
    ],
)
def test_licences_are_normalized(text: str, normal: str) -> None:
    assert check_licence(text) == normal
    assert check_licence(normal) == normal


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "MIT OR",
        "OR",
        "Free software",
        "MIT WITH Nothing",
        "MIT, BSD",
        "custom:",
        "custom:-x",
        "custom:a\nb",
    ],
)
def test_what_is_no_licence_is_refused(text: str) -> None:
    with pytest.raises(CompendiaError) as caught:
        check_licence(text)
    assert caught.value.code is ErrorCode.BAD_LICENCE
    assert "Fix: " in str(caught.value)
