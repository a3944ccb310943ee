"""Sizes of the sections of an ELF64 little-endian file, by name: all that is asked of a cubin."""

import struct


def section_sizes(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path}: not an ELF64 little-endian file")
    (table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)

    def header(i):
        # name, type, flags, address, offset, size
        return struct.unpack_from("<IIQQQQ", data, table + i * entry_size)

    names = header(names_index)[4]
    sizes = {}
    for i in range(count):
        name, _, _, _, _, size = header(i)
        end = data.index(b"\0", names + name)
        sizes[data[names + name:end].decode()] = size
    return sizes


def code_bytes(path, symbol):
    """Bytes of machine code of one kernel."""
    return section_sizes(path)[".text." + symbol]
