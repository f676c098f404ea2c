"""A small model as the end of an address, which carries it from one studio to another."""

from __future__ import annotations

import base64
import binascii
import zlib

from mbssa import Fault, ModelError
from mbssa.bounds import MAX_BYTES

#: Beginning of a link after the address of any studio, and the largest number of its characters.
MARK, MOST = "#model=", 8_000


def link_of(text: str) -> str:
    """Link of a model text: compressed, in letters that an address may have."""
    link = MARK + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    if len(link) > MOST:
        raise ModelError(
            "link", [Fault("", f"has {len(link):,} characters, more than {MOST:,}; save a file", "size")]
        )
    return link


def text_of(link: str) -> str:
    """Model text of a link, with or without the address before it; ModelError if broken or too large."""
    packed = link.partition(MARK)[2]
    unpacking = zlib.decompressobj()
    try:
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        text = unpacking.decompress(data, MAX_BYTES).decode()
    except (binascii.Error, zlib.error, ValueError):
        text = ""
    if not text or not unpacking.eof:
        raise ModelError("link", [Fault("", "is broken or incomplete; copy the whole of it", "syntax")])
    return text
