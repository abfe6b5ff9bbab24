"""Random rows of all types, by seed: written in each way that the client has, and read back. Every value must come back as
it went, and be the same to the server: what T-SQL computes of each (SHA2_256 of its bytes or of its text, by `forms` of
random_types.json) is what is computed here of the value that was sent. What is told of the columns is checked besides.

MILLRACE_RANDOM_ROWS says how many (100 unless it does), MILLRACE_RANDOM_SEED from which seed (1). The types are those of
random_types.json; Python's times go to microseconds, so types of seven digits have a last one of 0.
"""

import datetime
import decimal
import hashlib
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
        word, one, two, self.collation = re.fullmatch(r"(\w+)(?:\((max|\d+)(?:,(\d+))?\))?(?: COLLATE (\w+))?", kind).groups()
        self.word = "decimal" if word == "numeric" else word
        self.first = 0 if one is None else -1 if one == "max" else int(one)
        self.second = int(two or 0)
        self.is_old = word in ("text", "ntext", "image")
        self.is_clr = word in ("hierarchyid", "geometry", "geography")

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
                return r.choice((4000, 4001, 8000, 8001, 100000 if r.randrange(8) == 0 else 9000))
            return r.randrange(30000 if r.randrange(20) == 0 else 60)
        if most > 1000:
            # A row has room for one long value, not for all of them.
            return min(most, 2000) if edge and r.randrange(20) == 0 else r.randrange(100)
        return most if edge else r.randint(0, most)

    def varchar(self, r, edge):
        if self.collation:
            return self.utf8(r, edge) if self.collation.endswith("UTF8") else self.letters(r, edge)
        return "".join(r.choices(WESTERN, k=self.length(r, edge)))

    def letters(self, r, edge):
        of = {"C": "АБВЯабвяёЁЖжЎў№", "G": "ΑΒΓΩαβγωάέήΐΰςΏ", "J": "あいうアイウ漢字表示東京ｱｲ。、"}[self.collation[0]]
        length = self.length(r, edge)
        return "".join(r.choice(of) if r.randrange(3) else chr(r.randrange(32, 127)) for _ in range(length // 2 if of[0] == "あ" else length))

    def utf8(self, r, edge):
        """As many bytes as the column has at most."""
        left, out = self.length(r, edge), ""
        while True:
            kind = r.randrange(5)
            one = chr(r.randrange(0x10000, 0x110000) if kind == 0 else r.randrange(0xE000, 0x10000) if kind == 1 else r.randrange(1, 0xD800) if kind == 2 else r.randrange(32, 127))
            left -= len(one.encode())
            if left < 0:
                return out
            out += one

    def hierarchyid(self, r, edge):
        """Of levels from 0 to 3, of which each has five bits: 01, the number, 1."""
        bits = "".join(f"01{r.randrange(4):02b}1" for _ in range(r.randrange(8)))
        bits += "0" * (-len(bits) % 8)
        return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))

    def geometry(self, r, edge):
        """A point, or a line of two points, as [MS-SSCLRT] writes them; of the earth latitude comes first."""
        line, earth = r.random() < 0.5, self.word == "geography"
        out = struct.pack("<iBB", 4326 if earth else 0 if edge else r.randrange(1000000), 1, 0x14 if line else 0x0C)
        for n in range(2 if line else 1):
            out += struct.pack("<dd", r.uniform(-85, 85), n * 20 + r.uniform(0, 10) - (100 if earth else 1e6))
        return out

    geography = geometry

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


    def form(self, value):
        """What the server computes of the value, as the bytes that HASHBYTES takes."""
        if isinstance(value, bytes):
            return value
        if isinstance(value, float):
            return struct.pack(">d" if self.word == "float" else ">f", value)
        if isinstance(value, str):
            return value.encode("utf-16le", "surrogatepass")
        return self.written(value).encode()

    def written(self, value):
        if isinstance(value, bool):
            return str(int(value))
        if isinstance(value, decimal.Decimal):
            return f"{value:f}"
        if isinstance(value, uuid.UUID):
            return str(value).upper()
        if isinstance(value, int) or self.word == "date":
            return str(value)
        scale = {"datetime": 3, "smalldatetime": 0}.get(self.word, self.first)
        fraction = f".{value.microsecond * 10:07}"[: scale + 1] if scale else ""
        if self.word == "time":
            return value.isoformat("seconds") + fraction
        text = value.replace(tzinfo=None).isoformat(" ", "seconds") + fraction
        if self.word != "datetimeoffset":
            return text
        minutes = value.utcoffset() // datetime.timedelta(minutes=1)
        return f"{text} {'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"

    def told(self):
        """Size, scale and bytes of characters, as the ODBC reference gives them; 0 is without limit."""
        fixed = {
            "bit": (1, None), "tinyint": (3, 0), "smallint": (5, 0), "int": (10, 0), "bigint": (19, 0), "money": (19, 4),
            "smallmoney": (10, 4), "float": (53, None), "real": (24, None), "date": (10, None), "datetime": (23, 3),
            "smalldatetime": (16, 0), "uniqueidentifier": (36, None),
        }
        most = max(self.first, 0)
        point = self.first + 1 if self.first else 0
        if self.word in fixed:
            return *fixed[self.word], None
        if self.word == "decimal":
            return self.first, self.second, None
        if self.word in ("time", "datetime2", "datetimeoffset"):
            return {"time": 8, "datetime2": 19, "datetimeoffset": 26}[self.word] + point, self.first, None
        if self.is_old:
            return (2**30 - 1 if self.word == "ntext" else 2**31 - 1), None, (2**31 - 2 if self.word == "ntext" else 2**31 - 1)
        if self.word in ("char", "varchar", "binary", "varbinary"):
            return most, None, most
        if self.word in ("nchar", "nvarchar"):
            return most, None, 2 * most
        return {"xml": (0, None, 0), "geometry": (0, None, 0), "geography": (0, None, 0), "hierarchyid": (892, None, 892)}.get(self.word)


def finite(value):
    return 1.5 if value != value or value in (float("inf"), float("-inf")) else value


with open(os.path.join(os.environ["MILLRACE_DRIVER_TESTS"], "random_types.json"), encoding="utf-8") as file:
    TYPES = json.load(file)


def columns():
    return [Column(f"c{n}", kind) for n, kind in enumerate(TYPES["types"])]


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
    # Reading varchar(max) of UTF-8 in parts the driver loses a character of two units that two parts would share.
    cut = [column.collation and column.first < 0 for column in of]
    listed = ", ".join(f"CAST({column.name} AS nvarchar(max))" if is_cut else column.name for column, is_cut in zip(of, cut))
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


def compare(suite, connection, of, want, ways):
    """What T-SQL computes of each value."""
    sums = ", ".join(f"HASHBYTES('SHA2_256', {TYPES['forms'][column.word].replace('$', column.name)})" for column in of)
    expected = [[None if one is None else hashlib.sha256(column.form(one)).digest() for column, one in zip(of, row)] for row in want]
    for way in ways:
        cursor, bad = connection.cursor(), {}
        for n, row in enumerate(cursor.execute(f"SELECT {sums} FROM dbo.{way} ORDER BY id").fetchall()[: len(want)]):
            for column, got, one, sent in zip(of, row, expected[n], want[n]):
                if got != one:
                    bad[column.type] = bad.get(column.type, 0) + 1
                    if bad[column.type] <= 3:
                        suite.check(False, f"{way}: {column.type}, row {n}: T-SQL's sum is not that of {ascii(sent)[:120]}")
        cursor.close()


def told(suite, connection, of, way):
    """What the server says of the columns: in the catalog (SQLColumns), and beside rows (SQLDescribeCol)."""
    cursor = connection.cursor()
    found = {row[3]: row for row in cursor.columns(table=way, schema="dbo").fetchall()}
    described = {row[0]: row for row in cursor.execute(f"SELECT * FROM dbo.{way} WHERE 1 = 0").description}
    suite.equal((found["id"][5], found["id"][10], found["id"][17], described["id"][6]), ("int", 0, "NO", False), f"{way}: id")
    for n, column in enumerate(of):
        row, want, beside = found[column.name], column.told(), described[column.name]
        suite.equal((row[5], row[10], row[16], row[17]), (re.match(r"\w+", column.type)[0], 1, n + 2, "YES"), f"{way}: {column.type}: name, whether NULL, place")
        if want:
            size, scale, octets = want
            # Of these SQLColumns and SQLDescribeCol do not count alike.
            apart = column.first < 0 or column.is_clr or column.word in ("float", "real", "date", "ntext", "xml")
            suite.check(apart or (row[6], row[8], row[15]) == (size, scale, octets), f"{way}: {column.type}: size, digits, bytes: expected {want}, got {(row[6], row[8], row[15])}")
            suite.equal((beside[4], beside[5] or None, beside[6]), (size, scale or None, True), f"{way}: {column.type}: size, digits, whether NULL of a result")
    cursor.close()


def declare(of):
    return ", ".join(f"{column.name} {column.type} NULL" for column in of)
