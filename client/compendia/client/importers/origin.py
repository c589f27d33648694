"""Where a source comes from: the publisher's name from its hosts, and the licence it states."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from compendia.contract import CompendiaError
from compendia.contract.ids import slug
from compendia.contract.licence import check_licence

_TEMPLATE = re.compile(r"\{([^{}]*)\}")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_RESERVED = ("localhost", "local", "internal", "invalid", "test")  # RFC 6761, RFC 6762 and common use
_PLACEHOLDERS = ("example.com", "example.net", "example.org")  # RFC 2606
_SAME_LICENCE = {
    "apache 2.0": "Apache-2.0", "apache 2": "Apache-2.0", "apache-2": "Apache-2.0",
    "apache license 2.0": "Apache-2.0", "apache 2.0 license": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0", "apache license version 2.0": "Apache-2.0",
    "apachev2": "Apache-2.0", "mit license": "MIT", "the mit license": "MIT", "bsd 3-clause": "BSD-3-Clause",
    "new bsd license": "BSD-3-Clause", "bsd 2-clause": "BSD-2-Clause", "isc license": "ISC",
    "gpl v3": "GPL-3.0-only", "gplv3": "GPL-3.0-only", "agpl v3": "AGPL-3.0-only", "mpl 2.0": "MPL-2.0",
    "the unlicense": "Unlicense", "public domain (cc0)": "CC0-1.0", "cc0": "CC0-1.0", "cc0 1.0": "CC0-1.0",
    "cc by 4.0": "CC-BY-4.0", "cc-by": "CC-BY-4.0", "creative commons attribution 4.0": "CC-BY-4.0",
}  # fmt: skip
_LICENCE_URLS = (
    (re.compile(r"apache\.org/licenses/LICENSE-2\.0", re.I), r"Apache-2.0"),
    (
        re.compile(
            r"(?:opensource\.org/licenses?|choosealicense\.com/licenses|spdx\.org/licenses)/([\w.-]+)", re.I
        ),
        r"\1",
    ),
    (re.compile(r"creativecommons\.org/licenses/([a-z-]+)/(\d\.\d)", re.I), r"CC-\1-\2"),
    (re.compile(r"creativecommons\.org/publicdomain/zero/1\.0", re.I), r"CC0-1.0"),
)


def registrable_host(url: str, variables: dict[str, str] | None = None) -> str:
    """The domain that someone registered, of an absolute address or bare host; empty where there is none.

    Labels with a template variable count by the variable's default, and are dropped without one. Addresses
    of machines (`localhost`, IP numbers) and placeholders (`example.com`) name nobody.

    >>> registrable_host("https://{region}.api.acme.co.uk/v1"), registrable_host("/v1")
    ('acme.co.uk', '')
    """
    filled = _TEMPLATE.sub(lambda found: (variables or {}).get(found[1], found[0]), url.strip())
    try:
        host = urlsplit(filled if "//" in filled else f"//{filled}").netloc.rsplit("@", 1)[-1]
    except ValueError:
        return ""
    host = re.sub(r":[^:\]]*$", "", host).strip(".").lower()
    labels = [label for label in host.split(".") if "{" not in label and "}" not in label]
    try:
        labels = [label.encode("idna").decode() if not label.isascii() else label for label in labels]
    except UnicodeError:
        return ""
    if len(labels) < 2 or labels[-1] in _RESERVED or not all(_LABEL.fullmatch(label) for label in labels):
        return ""
    host = ".".join(labels)
    try:
        ipaddress.ip_address(host)
    except ValueError:
        found = str(_suffixes().privatesuffix(host) or "")
        return "" if found in _PLACEHOLDERS else found
    return ""


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def stated_licence(info: Any) -> tuple[str, ...]:
    """The licence of an OpenAPI `info.license` object: SPDX where it can be told, else `custom:NAME`."""
    if not isinstance(info, dict):
        return ()
    texts = {
        key: info[key].strip() for key in ("identifier", "name", "url") if isinstance(info.get(key), str)
    }
    for text in (texts.get("identifier", ""), texts.get("name", "")):
        if found := _spdx(text):
            return (found,)
    for pattern, template in _LICENCE_URLS:
        if (match := pattern.search(texts.get("url", ""))) and (found := _spdx(match.expand(template))):
            return (found,)
    name = next((texts[key] for key in ("name", "identifier", "url") if texts.get(key)), "")
    return (licence(name),) if name else ()


def licence(text: str) -> str:
    """An SPDX expression as it is, any other name as a custom policy.

    >>> licence("Apache 2.0"), licence("Acme: internal use only!")
    ('Apache-2.0', 'custom:Acme internal use only')
    """
    text = text.strip()
    if found := _spdx(text):
        return found
    name = re.sub(r"[^A-Za-z0-9._-]+", " ", text.removeprefix("custom:")).strip(" ._-")[:80].strip()
    return f"custom:{name or slug(text)}"


def _spdx(text: str) -> str:
    if not text or text.startswith("custom:"):
        return ""
    try:
        return check_licence(_SAME_LICENCE.get(text.lower(), text))
    except CompendiaError:
        return ""
