"""PTX embedded in objects, shared libraries, archives and fat binaries.

`nvcc` puts a fat binary for each source into its object: a header and entries, each machine code or PTX for one
architecture, plain or compressed. The layout is not documented; what is read here is what `nvcc` 12 and 13
write, as its own objects show: a header of 16 bytes (magic, version 1, its size, bytes that follow), and for
each entry a header (kind, version, its size, payload size, compressed size, PTX version, architecture, flags,
size before compression). Whatever does not fit is passed over and counted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = frozenset((".o", ".obj", ".so", ".a", ".fatbin", ".cubin"))

_MAGIC = b"\x50\xed\x55\xba"
_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQI4xHHI8xQ8xQ")
_PTX = 1
_LZ4 = 0x2000
_ZSTD = 0x8000
MAX_FILE_BYTES = 1 << 32
MAX_PTX_BYTES = 1 << 30


class FatbinError(Exception):
    """An embedded fat binary that cannot be read."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """One PTX text of a binary."""

    arch: int
    """90 for sm_90; the text's own `.target` has the variant."""
    text: bytes


def embedded_ptx(data: bytes) -> Iterator[Embedded]:
    """Yield the distinct PTX texts of a binary, in order. Raises FatbinError for one that is damaged."""
    seen: set[bytes] = set()
    at = data.find(_MAGIC)
    while at >= 0:
        end = at + len(_MAGIC)
        if len(data) - at >= _HEADER.size:
            _, version, size, length = _HEADER.unpack_from(data, at)
            if version == 1 and size == _HEADER.size and at + size + length <= len(data):
                end = at + size + length
                for found in _entries(data, at + size, end):
                    if found.text not in seen:
                        seen.add(found.text)
                        yield found
        at = data.find(_MAGIC, end)


def _entries(data: bytes, at: int, end: int) -> Iterator[Embedded]:
    while end - at >= _ENTRY.size:
        kind, _, header, size, compressed, _, _, arch, flags, whole = _ENTRY.unpack_from(data, at)
        start = at + header
        if header < _ENTRY.size or start + size > end:
            raise FatbinError(f"the fat binary is damaged at byte {at}")
        if kind == _PTX:
            payload = data[start : start + (compressed or size)]
            yield Embedded(arch, _expanded(payload, flags, whole).rstrip(b"\0"))
        at = start + size


def _expanded(payload: bytes, flags: int, size: int) -> bytes:
    """Return the text behind a payload. Raises FatbinError."""
    if not flags & (_LZ4 | _ZSTD):
        return payload
    if size > MAX_PTX_BYTES:
        raise FatbinError(f"embedded PTX is larger than {MAX_PTX_BYTES >> 20} MiB")
    try:
        text = _lz4(payload, size) if flags & _LZ4 else _zstd(payload, size)
    except ImportError as error:
        advice = "compressed PTX needs lz4 and zstandard: pip install 'ptxcheck[fatbin]'"
        raise FatbinError(advice) from error
    except Exception as error:
        raise FatbinError(f"compressed PTX is damaged: {error}") from error
    if len(text) != size:
        raise FatbinError(f"compressed PTX has {len(text)} bytes in place of {size}")
    return text


def _lz4(payload: bytes, size: int) -> bytes:
    from lz4.block import decompress

    return bytes(decompress(payload, uncompressed_size=size))


def _zstd(payload: bytes, size: int) -> bytes:
    from zstandard import ZstdDecompressor

    return ZstdDecompressor().decompress(payload, max_output_size=size)


def read_embedded(path: str) -> tuple[Embedded, ...]:
    """Return the PTX texts of a file. Raises FatbinError and OSError."""
    if Path(path).stat().st_size > MAX_FILE_BYTES:
        raise FatbinError(f"larger than {MAX_FILE_BYTES >> 30} GiB")
    found = tuple(embedded_ptx(Path(path).read_bytes()))
    if not found:
        raise FatbinError(
            "has no PTX in it: compile with -gencode arch=compute_90,code=compute_90 to embed some"
        )
    return found
