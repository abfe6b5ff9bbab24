"""Random rows of all types, by seed: written in each way that the client has, and read back. Every value must come back as
it went, and the server must hold the ways' rows for equal.

MILLRACE_RANDOM_ROWS says how many (100 unless it does), MILLRACE_RANDOM_SEED from which seed (1). The types are those of
random_types.json; Python's times go to microseconds, so types of seven digits have a last one of 0.
"""

import datetime
import decimal
import json
import os
import random
import re
import struct
import uuid

COUNT = int(os.environ.get("MILLRACE_RANDOM_ROWS", "100"))
SEED = int(os.environ.get("MILLRACE_RANDOM_SEED", "1"))
# The printable characters of code page 1252.
WESTERN = [bytes([n]).decode("cp1252") for n in range(32, 256) if n not in (127, 129, 141, 143, 144, 157)]
DAY = datetime.timedelta(days=1)
EPOCH = datetime.datetime(1, 1, 1)
decimal.getcontext().prec = 80


class Column:
    def __init__(self, name, kind):
        self.name, self.type = name, kind
        word, one, two = re.fullmatch(r"(\w+)(?:\((max|\d+)(?:,(\d+))?\))?", kind).groups()
        self.word = "decimal" if word == "numeric" else word
        self.first = 0 if one is None else -1 if one == "max" else int(one)
        self.second = int(two or 0)
        self.is_old = word in ("text", "ntext", "image")

    def value(self, r, null=True):
        return None if r.randrange(8) == 0 and null else getattr(self, self.word)(r, r.randrange(4) == 0)

    def bit(self, r, edge):
        return r.random() < 0.5

    def whole(self, r, edge, low, high):
        return r.choice((low, high)) if edge else r.randint(low, high)

    def tinyint(self, r, edge):
        return self.whole(r, edge, 0, 255)

    def smallint(self, r, edge):
        return self.whole(r, edge, -(2**15), 2**15 - 1)

    def int(self, r, edge):
        return self.whole(r, edge, -(2**31), 2**31 - 1)

    def bigint(self, r, edge):
        return self.whole(r, edge, -(2**63), 2**63 - 1)

    def decimal(self, r, edge):
        length = self.first if edge else r.randint(1, self.first)
        # A zero of 38 places is too much for the client's arrays.
        digits = 10**length - 1 if edge else r.randrange(1, 10**length)
        return decimal.Decimal(r.choice((-1, 1)) * digits).scaleb(-self.second)

    def money(self, r, edge):
        return decimal.Decimal(self.bigint(r, edge)).scaleb(-4)

    def smallmoney(self, r, edge):
        return decimal.Decimal(self.int(r, edge)).scaleb(-4)

    def float(self, r, edge):
        if edge:
            return r.choice((-1.7976931348623157e308, 2.2250738585072014e-308, 0.0, 1.7976931348623157e308))
        return finite(struct.unpack("<d", r.randbytes(8))[0])

    def real(self, r, edge):
        if edge:
            return r.choice((-3.4028234663852886e38, 1.1754943508222875e-38, 0.0, 3.4028234663852886e38))
        # The client holds what is not normal for out of range.
        value = finite(struct.unpack("<f", r.randbytes(4))[0])
        return value if abs(value) > 1.2e-38 else 1.5

    def moment(self, r, low, high):
        return low + datetime.timedelta(microseconds=r.randrange((high - low) // datetime.timedelta(microseconds=1)))

    def cut(self, moment, digits):
        """Without what the scale has no place for."""
        unit = 10 ** max(6 - digits, 0)
        return moment.replace(microsecond=moment.microsecond // unit * unit)

    def date(self, r, edge):
        return r.choice((datetime.date.min, datetime.date.max)) if edge else self.moment(r, EPOCH, datetime.datetime.max).date()

    def datetime(self, r, edge):
        if edge:
            return r.choice((datetime.datetime(1753, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 997000)))
        # A tick of datetime is a third of a hundredth of a second; of these the milliseconds come back.
        moment = self.moment(r, datetime.datetime(1753, 1, 1), datetime.datetime.max)
        return moment.replace(microsecond=moment.microsecond // 10000 * 10000 + r.choice((0, 3000, 7000)))

    def smalldatetime(self, r, edge):
        low, high = datetime.datetime(1900, 1, 1), datetime.datetime(2079, 6, 6, 23, 59)
        return r.choice((low, high)) if edge else self.moment(r, low, high).replace(second=0, microsecond=0)

    def datetime2(self, r, edge):
        low, high = EPOCH, datetime.datetime.max
        return self.cut(r.choice((low, high)) if edge else self.moment(r, low, high), self.first)

    def time(self, r, edge):
        return self.datetime2(r, edge).time()

    def datetimeoffset(self, r, edge):
        zone = datetime.timedelta(minutes=r.choice((-840, 840, 0)) if edge else r.randint(-840, 840))
        moment = self.moment(r, EPOCH + DAY, datetime.datetime.max - DAY)
        return self.cut(moment, self.first).replace(tzinfo=datetime.timezone(zone))

    def length(self, r, edge):
        most = self.first
        if edge and r.randrange(2) == 0:
            return 0
        if most <= 0:
            if edge:
                return r.choice((4000, 4001, 8000, 8001, 70000))
            return r.randrange(30000 if r.randrange(20) == 0 else 60)
        if most > 1000:
            # A row has room for one long value, not for all of them.
            return min(most, 2000) if edge and r.randrange(20) == 0 else r.randrange(100)
        return most if edge else r.randint(0, most)

    def varchar(self, r, edge):
        return "".join(r.choices(WESTERN, k=self.length(r, edge)))

    def char(self, r, edge):
        return self.varchar(r, edge).ljust(self.first)

    text = varchar

    def nvarchar(self, r, edge):
        length, out = self.length(r, edge), ""
        wide = 0
        while wide < length:
            kind = r.randrange(5)
            if kind == 0 and length - wide >= 2:
                out += chr(r.randrange(0x10000, 0x110000))
                wide += 1
            else:
                out += chr(r.randrange(0xE000, 0x10000) if kind == 1 else r.randrange(1, 0xD800) if kind == 2 else r.randrange(32, 127))
            wide += 1
        return out

    def nchar(self, r, edge):
        value = self.nvarchar(r, edge)
        return value + " " * (self.first - len(value.encode("utf-16le")) // 2)

    ntext = nvarchar

    def varbinary(self, r, edge):
        return r.randbytes(self.length(r, edge))

    image = varbinary

    def binary(self, r, edge):
        return self.varbinary(r, edge).ljust(self.first, b"\0")

    def uniqueidentifier(self, r, edge):
        return uuid.UUID(int=0 if edge else r.getrandbits(128))

    def xml(self, r, edge):
        if edge:
            return r.choice(("", "<e/>"))
        text = "".join(r.choices("abc äßλ漢字xyz", k=r.randint(1, 30))).strip() + "z"
        return f'<r a="{text} &lt;&amp;" n="{r.getrandbits(31)}"><c>{text}&amp;&lt;&gt;</c><d/>t</r>'


def finite(value):
    return 1.5 if value != value or value in (float("inf"), float("-inf")) else value


def columns():
    with open(os.path.join(os.environ["MILLRACE_DRIVER_TESTS"], "random_types.json"), encoding="utf-8") as file:
        return [Column(f"c{n}", kind) for n, kind in enumerate(json.load(file))]


def rows(of):
    r = random.Random(SEED)
    # From the first row the client takes the types of an array.
    return [[column.value(r, n > 0) for column in of] for n in range(COUNT)]


def same(got, want):
    if type(got) is not type(want):
        return isinstance(got, (bytes, bytearray)) and isinstance(want, bytes) and bytes(got) == want
    if isinstance(got, datetime.datetime):
        return got == want and got.utcoffset() == want.utcoffset()
    if isinstance(got, decimal.Decimal):
        return got == want and got.as_tuple().exponent == want.as_tuple().exponent
    return got == want


def check(suite, connection, of, want, way):
    """What a way left in its table dbo.by_..., read back by a plain query and by one with a parameter."""
    listed = ", ".join(column.name for column in of)
    for where, parameters in (("", ()), (" WHERE id >= ?", (0,))):
        cursor = connection.cursor()
        cursor.execute(f"SELECT id, {listed} FROM dbo.{way}{where} ORDER BY id", *([parameters] if parameters else []))
        bad = {}
        got = cursor.fetchall()
        suite.equal(len(got), len(want), f"{way}{where}: rows")
        for n, row in enumerate(got[: len(want)]):
            suite.equal(row[0], n, f"{way}: id")
            for column, one, other in zip(of, row[1:], want[n]):
                if same(one, other):
                    continue
                # A type that goes wrong is told of three times.
                bad[column.type] = bad.get(column.type, 0) + 1
                if bad[column.type] <= 3:
                    suite.check(False, f"{way}{where}: {column.type}, row {n}: expected {ascii(other)[:120]}, got {ascii(one)[:120]}")
        cursor.close()


def compare(suite, connection, of, ways):
    """The server's own comparison."""
    for way in ways[1:]:
        for column in of:
            name = column.name
            cast = "varbinary(max)" if column.word == "image" else "nvarchar(max)"
            a, b = (f"CAST({t}.{name} AS {cast})" if column.is_old or column.word == "xml" else f"{t}.{name}" for t in "ab")
            wrong = suite.scalar(
                connection,
                f"SELECT COUNT(*) FROM dbo.{ways[0]} a FULL JOIN dbo.{way} b ON a.id = b.id WHERE a.id IS NULL OR b.id IS NULL"
                f" OR (a.{name} IS NULL AND b.{name} IS NOT NULL) OR (a.{name} IS NOT NULL AND b.{name} IS NULL)"
                f" OR {a} <> {b} OR DATALENGTH(a.{name}) <> DATALENGTH(b.{name})",
            )
            suite.equal(wrong, 0, f"{column.type}: rows that differ between {ways[0]} and {way}")


def declare(of):
    return ", ".join(f"{column.name} {column.type} NULL" for column in of)
