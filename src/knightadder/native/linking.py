"""Linking: turns an ELF object file into code that runs at any place in memory.

LLVM leaves the distances between an object's sections open (relocations). Here the sections are concatenated and the
distances filled in. The result has no outside references, so loading it only maps it into memory. Its format does not
belong to an operating system: only calling conventions differ between systems, and LLVM follows them.

Sources: System V ABI, its supplements for AMD64 (4.4) and AArch64 (ELF for the Arm 64-bit Architecture, 5.7).
"""

import struct

_SYMBOL_TABLE, _NO_BITS, _RELOCATIONS = 2, 8, 4  # types of sections
_WRITE, _ALLOCATE = 1, 2  # flags of sections
_X86_64, _AARCH64 = 62, 183  # machine numbers in ELF


class LinkError(Exception):
    """The object needs something that this linker does not provide."""


def link(elf: bytes) -> tuple[bytes, dict[str, int], int]:
    """Link a relocatable, position-independent ELF object for x86-64 or AArch64 that has no writable data.

    Return the code with its constants, to be loaded at a multiple of 4096; the offset of each global function; and the
    offset of the call frame information (``.eh_frame``), which ends with a length of zero. A `LinkError` is raised if
    the object refers to a symbol that it does not define, has writable data, or has an unknown relocation.
    """
    machine, table, headers_size, count = struct.unpack_from("<18xH20xQ10xHH", elf)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + headers_size * i) for i in range(count)]
    image, addresses, frames = bytearray(), {}, None
    names = headers[struct.unpack_from("<H", elf, 62)[0]][4]
    for number, (name, kind, flags, _, offset, size, _, _, alignment, _) in enumerate(headers):
        if flags & _ALLOCATE and size:
            if flags & _WRITE or kind == _NO_BITS:
                raise LinkError(f"section {_text(elf, names + name)} is writable")
            image += bytes(-len(image) % alignment)
            addresses[number] = len(image)
            image += elf[offset : offset + size]
            if _text(elf, names + name) == ".eh_frame":
                frames = addresses[number]
                image += bytes(4)
    if frames is None:
        raise LinkError("there is no call frame information")

    [symbols] = (header for header in headers if header[1] == _SYMBOL_TABLE)
    strings = headers[symbols[6]][4]

    def symbol(index: int) -> tuple[str, int, int | None]:
        name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", elf, symbols[4] + 24 * index)
        return _text(elf, strings + name), info >> 4, addresses[section] + value if section in addresses else None

    for _, kind, _, _, offset, size, _, section, _, _ in headers:
        if kind != _RELOCATIONS or section not in addresses:
            continue
        for at in range(offset, offset + size, 24):
            place, what, addend = struct.unpack_from("<QQq", elf, at)
            name, _, target = symbol(what >> 32)
            if target is None:
                raise LinkError(f"{name} is not defined")
            place += addresses[section]
            patch = {_X86_64: _patch_x86_64, _AARCH64: _patch_aarch64}[machine]
            patch(image, what & 0xFFFFFFFF, place, target + addend)
    functions = {}
    for index in range(symbols[5] // 24):
        name, binding, target = symbol(index)
        if binding == 1 and target is not None:  # global
            functions[name] = target
    return bytes(image), functions, frames


def _patch_x86_64(image: bytearray, kind: int, place: int, target: int) -> None:
    if kind not in (2, 4):  # PC32, PLT32
        raise LinkError(f"unknown relocation {kind}")
    struct.pack_into("<i", image, place, target - place)


def _patch_aarch64(image: bytearray, kind: int, place: int, target: int) -> None:
    distance = target - place
    if kind == 261:  # PREL32
        struct.pack_into("<i", image, place, distance)
        return
    [code] = struct.unpack_from("<I", image, place)
    scale = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}.get(kind)  # ADD and LDST, by the binary log of the size
    if kind in (282, 283):  # JUMP26, CALL26
        code |= distance >> 2 & 0x3FFFFFF
    elif kind == 275:  # ADR_PREL_PG_HI21: the distance in pages
        pages = (target >> 12) - (place >> 12)
        code |= (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
    elif scale is not None:  # the place in the page
        code |= (target & 0xFFF) >> scale << 10
    else:
        raise LinkError(f"unknown relocation {kind}")
    struct.pack_into("<I", image, place, code)


def _text(elf: bytes, start: int) -> str:
    return elf[start : elf.index(b"\0", start)].decode()
