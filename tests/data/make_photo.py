#!/usr/bin/env python3
"""make_photo.py IN.png OUT.pgm: how photo.pgm was made from scikit-image's camera.png (see README.md).

Takes an 8-bit grey PNG without interlacing and keeps its first 384 rows.
"""
import struct
import sys
import zlib

ROWS = 384


def chunks(data):
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + size]
        at += 12 + size


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def unfilter(kind, line, above):
    out = bytearray(len(line))
    for x, v in enumerate(line):
        left = out[x - 1] if x else 0
        corner = above[x - 1] if x else 0
        add = (0, left, above[x], (left + above[x]) // 2, paeth(left, above[x], corner))[kind]
        out[x] = (v + add) & 255
    return out


def main(source, target):
    data = open(source, "rb").read()
    parts = list(chunks(data))
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", parts[0][1])
    assert (depth, colour, interlace) == (8, 0, 0) and height >= ROWS
    raw = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    above, rows = bytearray(width), []
    for y in range(ROWS):
        line = raw[y * (width + 1) : (y + 1) * (width + 1)]
        above = unfilter(line[0], line[1:], above)
        rows.append(bytes(above))
    with open(target, "wb") as f:
        f.write(b"P5\n%d %d\n255\n" % (width, ROWS) + b"".join(rows))


main(sys.argv[1], sys.argv[2])
