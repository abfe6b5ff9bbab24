"""Values there and back: the cases of ../types.json as Python values, and what a driver answered as text.

A case has a type, a literal for the server (`sql`) and the value as text (`text`). `native` makes the Python value that
a program would pass as a parameter; `same` says whether what came back is that value, exactly, as far as the Python
type can hold it (Python's times have microseconds: the seventh digit is cut off, and is checked on the server).
"""

import datetime
import decimal
import json
import os
import struct
import uuid

HERE = os.environ["MILLRACE_DRIVER_TESTS"]


def cases():
    with open(os.path.join(HERE, "types.json"), encoding="utf-8") as file:
        types = json.load(file)
    for entry in types:
        for value in entry["values"]:
            value["text"] *= value.pop("repeat", 1)
    return types


def fixtures(name):
    with open(os.path.join(HERE, "fixtures.json"), encoding="utf-8") as file:
        return json.load(file)[name]


def has_hundred_ns(kind, text):
    """Whether the value has a digit that Python's datetime cannot hold."""
    if kind not in ("time", "datetime2", "datetimeoffset") or "." not in text:
        return False
    return text.split(".")[1].split(" ")[0][6:].strip("0") != ""


def _cut(text):
    """Seven fractional digits to six."""
    head, dot, rest = text.partition(".")
    if not dot:
        return text
    digits, space, zone = rest.partition(" ")
    return head + "." + digits[:6] + space + zone


def native(kind, text):
    if kind == "bit":
        return text == "1"
    if kind in ("int", "bigint"):
        return int(text)
    if kind in ("decimal", "money"):
        return decimal.Decimal(text)
    if kind in ("float", "real"):
        return float(text)
    if kind in ("varchar", "nvarchar"):
        return text
    if kind == "binary":
        return bytes.fromhex(text)
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind == "time":
        return datetime.time.fromisoformat(_padded(text))
    if kind in ("datetime", "datetime2"):
        return datetime.datetime.fromisoformat(_padded(text))
    if kind == "datetimeoffset":
        moment, zone = _cut(text).rsplit(" ", 1)
        return datetime.datetime.fromisoformat(_padded(moment) + zone)
    if kind == "guid":
        return uuid.UUID(text)
    raise ValueError(kind)


def _padded(text):
    """fromisoformat of Python 3.10 takes three or six fractional digits."""
    head, dot, digits = _cut(text).partition(".")
    return head + dot + digits.ljust(6, "0") if dot else head


def same(kind, text, got):
    """Whether `got`, as the driver returned it, is the value."""
    want = native(kind, text)
    if kind == "bit":
        return got is want or (isinstance(got, int) and got == int(want))
    if kind in ("int", "bigint"):
        return isinstance(got, int) and got == want
    if kind in ("decimal", "money"):
        return isinstance(got, decimal.Decimal) and got == want
    if kind == "real":
        return isinstance(got, float) and struct.pack("f", got) == struct.pack("f", want)
    if kind == "binary":
        return isinstance(got, (bytes, bytearray)) and bytes(got) == want
    if kind == "datetime":
        # Ticks of 1/300 s, which drivers give in ms or in µs.
        return isinstance(got, datetime.datetime) and abs(got - want) < datetime.timedelta(milliseconds=1)
    if kind == "datetimeoffset":
        return got.utcoffset() == want.utcoffset() and got == want
    if kind == "guid":
        return uuid.UUID(str(got)) == want
    return type(got) is type(want) and got == want
