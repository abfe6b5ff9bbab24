// Random rows of all types, by seed: written by parameters, by bulk load and as a table-valued parameter, and read back. Every
// value must come back as it went, and be the same to the server: what T-SQL computes of each (SHA2_256 of its bytes or of its
// text, by `forms` of random_types.json) is what is computed here of the value that was sent. So is what is told of the columns.
//
// MILLRACE_RANDOM_ROWS says how many (100 unless it does), MILLRACE_RANDOM_SEED from which seed (1). What a JavaScript number or
// Date cannot hold is left out: decimals have 15 digits at most.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TYPES } from 'tedious';
import { check, equal, noting, short } from './frame.js';

const WAYS = ['by_parameters', 'by_bulk_load', 'by_table'];
// The printable characters of code page 1252.
const WESTERN = [...Array(95).keys()].map((n) => String.fromCharCode(n + 32)).concat([...'€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'], [...Array(96).keys()].map((n) => String.fromCharCode(n + 160)));

/** The same numbers from the same seed (mulberry32). */
class Random {
  constructor(seed) {
    this.state = seed;
  }

  unit() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(n) {
    return Math.floor(this.unit() * n);
  }

  pick(...edges) {
    return edges[this.below(edges.length)];
  }

  digits(n) {
    return [...Array(n)].map(() => this.below(10)).join('');
  }
}

const two = (n, width = 2) => String(n).padStart(width, '0');

/** A column, with the kind of value that types.json calls it. */
class Column {
  constructor(n, type) {
    const [, word, first, second, collation] = /^(\w+)(?:\((max|\d+)(?:,(\d+))?\))?(?: COLLATE (\w+))?$/.exec(type);
    Object.assign(this, { name: `c${n}`, type, collation, word: word === 'numeric' ? 'decimal' : word });
    this.first = first === undefined ? 0 : first === 'max' ? -1 : Number(first);
    this.second = Number(second ?? 0);
    this.isClr = ['hierarchyid', 'geometry', 'geography'].includes(word);
    this.isOld = ['text', 'ntext', 'image'].includes(word);
    const kinds = {
      tinyint: 'int', smallint: 'int', smallmoney: 'money', char: 'varchar', text: 'varchar', nchar: 'nvarchar', ntext: 'nvarchar',
      varbinary: 'binary', image: 'binary', smalldatetime: 'datetime', uniqueidentifier: 'guid', xml: 'nvarchar',
      hierarchyid: 'binary', geometry: 'binary', geography: 'binary',
    };
    this.kind = kinds[this.word] ?? this.word;
    this.scale = /^(time|datetime2|datetimeoffset)$/.test(word) ? this.first : word === 'datetime' ? 3 : 0;
  }

  /** Type and options of a parameter; `lasting`: as a column of the table has it. */
  declared(of, lasting) {
    const like = { text: 'varchar(max)', ntext: 'nvarchar(max)', image: 'varbinary(max)', xml: 'nvarchar(max)' }[this.word];
    // varchar is in the database's collation: text of another is Unicode. Of CLR types there are the bytes.
    const own = this.isClr ? 'varbinary(max)' : this.collation ? `n${this.type.split(' ')[0].replace(/^n/, '')}` : this.type;
    const [type, options] = of(like ?? own);
    return [type, lasting ? { nullable: true, ...options } : options];
  }

  text(r) {
    if (r.below(8) === 0) return null;
    const edge = r.below(4) === 0;
    switch (this.word) {
      case 'bit': return r.pick('0', '1');
      case 'tinyint': return edge ? r.pick('0', '255') : String(r.below(256));
      case 'smallint': return edge ? r.pick('-32768', '32767') : String(r.below(65536) - 32768);
      case 'int': return edge ? r.pick('-2147483648', '2147483647') : String(r.below(2 ** 32) - 2 ** 31);
      case 'bigint': return edge ? r.pick('-9223372036854775808', '9223372036854775807') : String(BigInt.asIntN(64, BigInt(`0x${this.hex(r, 8)}`)));
      case 'decimal': return this.decimal(r, edge, this.first, this.second);
      case 'money': return this.quarters(r, edge, 11);
      case 'smallmoney': return this.quarters(r, edge, 5);
      case 'float': return String(edge ? r.pick(-Number.MAX_VALUE, 2.2250738585072014e-308, 0) : (r.unit() - 0.5) * 10 ** (r.below(600) - 300));
      case 'real': return String(Math.fround(edge ? r.pick(-3.4028234663852886e38, 1.1754943508222875e-38, 0) : (r.unit() - 0.5) * 10 ** (r.below(70) - 35)));
      case 'date': return this.day(r, edge, 1, 9999);
      case 'time': return this.clock(r, edge);
      // Milliseconds that datetime has: its tick is a third of a hundredth of a second.
      case 'datetime': return `${this.day(r, edge, 1753, 9999)} ${this.clock(r, false).slice(0, 8)}.${r.digits(2)}${r.pick(0, 3, 7)}`;
      case 'smalldatetime': return `${this.day(r, false, 1900, 2078)} ${this.clock(r, false).slice(0, 5)}:00`;
      case 'datetime2': return `${this.day(r, edge, 1, 9999)} ${this.clock(r, edge)}`;
      // The client sends every moment with its own offset, which is that of UTC here.
      case 'datetimeoffset': return `${this.day(r, false, 2, 9998)} ${this.clock(r, edge)} +00:00`;
      case 'hierarchyid': return this.path(r);
      case 'geometry': case 'geography': return this.shape(r, edge);
    }
    if (this.collation) return this.collated(r, this.length(r, edge));
    switch (this.word) {
      case 'char': return this.narrow(r, this.length(r, edge)).padEnd(this.first);
      case 'nchar': return this.wide(r, this.length(r, edge)).padEnd(this.first);
      case 'varchar': case 'text': return this.narrow(r, this.length(r, edge));
      case 'nvarchar': case 'ntext': return this.wide(r, this.length(r, edge));
      case 'binary': return this.hex(r, this.length(r, edge)).padEnd(this.first * 2, '0');
      case 'varbinary': case 'image': return this.hex(r, this.length(r, edge));
      case 'uniqueidentifier': return (edge ? '0'.repeat(32) : this.hex(r, 16)).toUpperCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
      case 'xml': return this.xml(r, edge);
      default: throw new Error(this.word);
    }
  }

  decimal(r, edge, precision, scale) {
    const length = edge ? Math.min(precision, 15) : 1 + r.below(Math.min(precision, 15));
    const digits = (edge ? '9'.repeat(length) : r.digits(length)).padStart(scale + 1, '0');
    const text = scale ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits;
    const whole = text.replace(/^0+(?=\d)/, '');
    return Number(whole) !== 0 && r.below(2) ? `-${whole}` : whole;
  }

  /** The client cuts ten-thousandths off that a binary number does not hold exactly. */
  quarters(r, edge, digits) {
    return `${this.decimal(r, edge, digits, 0)}.${r.pick('00', '25', '50', '75')}00`;
  }

  day(r, edge, first, last) {
    const year = edge ? r.pick(first, last) : first + r.below(last - first + 1);
    return `${two(year, 4)}-${edge ? r.pick('01-01', '12-31') : `${two(1 + r.below(12))}-${two(1 + r.below(28))}`}`;
  }

  clock(r, edge) {
    const fraction = this.scale ? `.${edge ? r.pick('0', '9').repeat(this.scale) : r.digits(this.scale)}` : '';
    return `${edge ? r.pick('00:00:00', '23:59:59') : `${two(r.below(24))}:${two(r.below(60))}:${two(r.below(60))}`}${fraction}`;
  }

  length(r, edge) {
    if (edge && r.below(2)) return 0;
    if (this.first <= 0) return edge ? r.pick(4000, 4001, 8000, 8001, r.below(8) ? 9000 : 100000) : r.below(r.below(20) === 0 ? 30000 : 60);
    // A row has room for one long value, not for all of them.
    if (this.first > 1000) return edge && r.below(20) === 0 ? 2000 : r.below(100);
    return edge ? this.first : r.below(this.first + 1);
  }

  narrow(r, length) {
    let text = '';
    for (let n = 0; n < length; n++) text += WESTERN[r.below(WESTERN.length)];
    return text;
  }

  /** Characters of one unit and of two, and halves of pairs by themselves, which are kept. */
  wide(r, length) {
    let text = '';
    while (text.length < length) {
      const kind = r.below(6);
      if (kind === 0 && length - text.length > 1) text += String.fromCodePoint(0x10000 + r.below(0x100000));
      else if (kind === 1) text += String.fromCharCode(0xd800 + r.below(0x800));
      else if (kind === 2) text += String.fromCharCode(0xe000 + r.below(0x2000));
      else if (kind === 3) text += String.fromCharCode(1 + r.below(0xd7ff));
      else text += String.fromCharCode(32 + r.below(95));
    }
    return text;
  }

  collated(r, length) {
    if (this.collation.endsWith('BIN2')) return this.wide(r, length);
    if (this.collation.endsWith('UTF8')) return this.utf8(r, length);
    const letters = [...{ C: 'АБВЯабвяёЁЖжЎў№', G: 'ΑΒΓΩαβγωάέήΐΰςΏ', J: 'あいうアイウ漢字表示東京ｱｲ。、' }[this.collation[0]]];
    const most = this.collation[0] === 'J' ? length >> 1 : length;
    const text = [...Array(most)].map(() => (r.below(3) ? letters[r.below(letters.length)] : String.fromCharCode(32 + r.below(95)))).join('');
    return this.word === 'char' ? text.padEnd(this.first) : text;
  }

  /** As many bytes as the column has at most. */
  utf8(r, length) {
    let [text, left] = ['', length];
    for (;;) {
      const kind = r.below(5);
      const next = String.fromCodePoint(kind === 0 ? 0x10000 + r.below(0x100000) : kind === 1 ? 0xe000 + r.below(0x2000) : kind === 2 ? 1 + r.below(0xd7ff) : 32 + r.below(95));
      left -= Buffer.byteLength(next);
      if (left < 0) return text;
      text += next;
    }
  }

  /** A hierarchyid of levels from 0 to 3, of which each has five bits: 01, the number, 1. */
  path(r) {
    const bits = [...Array(r.below(8))].map(() => `01${r.below(4).toString(2).padStart(2, '0')}1`).join('');
    return (bits.match(/.{1,8}/g) ?? []).map((byte) => two(parseInt(byte.padEnd(8, '0'), 2).toString(16))).join('');
  }

  /** A point, or a line of two points, as [MS-SSCLRT] writes them; of the earth latitude comes first. */
  shape(r, edge) {
    const [earth, line] = [this.word === 'geography', r.below(2) === 1];
    const bytes = Buffer.alloc(line ? 38 : 22);
    bytes.writeInt32LE(earth ? 4326 : edge ? 0 : r.below(1000000), 0);
    bytes.writeUInt8(1, 4);
    bytes.writeUInt8(line ? 0x14 : 0x0c, 5);
    for (let n = 0; n < (line ? 2 : 1); n++) {
      bytes.writeDoubleLE(r.unit() * 170 - 85, 6 + 16 * n);
      bytes.writeDoubleLE(n * 20 + r.unit() * 10 - (earth ? 100 : 1e6), 14 + 16 * n);
    }
    return bytes.toString('hex');
  }

  /** What the server computes of the value, as the bytes that HASHBYTES takes. */
  form(text) {
    const bytes = Buffer.alloc(this.word === 'float' ? 8 : 4);
    if (this.word === 'float') bytes.writeDoubleBE(Number(text));
    else if (this.word === 'real') bytes.writeFloatBE(Number(text));
    else if (this.kind === 'binary') return Buffer.from(text, 'hex');
    else return Buffer.from(text, this.kind === 'varchar' || this.kind === 'nvarchar' ? 'utf16le' : 'latin1');
    return bytes;
  }

  /** Type, precision, scale and length as the protocol tells them of a column that may be NULL. */
  told() {
    const whole = { bit: 1, tinyint: 1, smallint: 2, int: 4, bigint: 8 }[this.word];
    if (whole) return [this.word === 'bit' ? 'BitN' : 'IntN', undefined, undefined, whole];
    const wide = this.word.startsWith('n') ? 2 : 1;
    const long = { text: ['Text', 2 ** 31 - 1], ntext: ['NText', 2 ** 31 - 2], image: ['Image', 2 ** 31 - 1] }[this.word];
    if (long) return [long[0], undefined, undefined, long[1]];
    switch (this.word) {
      case 'decimal': return [this.type.startsWith('n') ? 'NumericN' : 'DecimalN', this.first, this.second, 17];
      case 'money': return ['MoneyN', undefined, undefined, 8];
      case 'smallmoney': return ['MoneyN', undefined, undefined, 4];
      case 'float': return ['FloatN', undefined, undefined, 8];
      case 'real': return ['FloatN', undefined, undefined, 4];
      case 'datetime': return ['DateTimeN', undefined, undefined, 8];
      case 'smalldatetime': return ['DateTimeN', undefined, undefined, 4];
      case 'date': return ['Date', undefined, undefined, undefined];
      case 'time': return ['Time', undefined, this.first, undefined];
      case 'datetime2': return ['DateTime2', undefined, this.first, undefined];
      case 'datetimeoffset': return ['DateTimeOffset', undefined, this.first, undefined];
      case 'uniqueidentifier': return ['UniqueIdentifier', undefined, undefined, 16];
      case 'xml': return ['Xml', undefined, undefined, undefined];
      case 'hierarchyid': case 'geometry': case 'geography': return ['UDT', undefined, undefined, undefined];
      default: return [{ char: 'Char', varchar: 'VarChar', nchar: 'NChar', nvarchar: 'NVarChar', binary: 'Binary', varbinary: 'VarBinary' }[this.word], undefined, undefined, this.first < 0 ? 65535 : this.first * wide];
    }
  }

  hex(r, length) {
    const bytes = Buffer.alloc(length);
    for (let n = 0; n < length; n++) bytes[n] = r.below(256);
    return bytes.toString('hex');
  }

  xml(r, edge) {
    if (edge) return r.pick('', '<e/>');
    const text = `${[...Array(1 + r.below(30))].map(() => r.pick(...'abc äßλ漢字xyz')).join('').trim()}z`;
    return `<r a="${text} &lt;&amp;" n="${r.below(2 ** 31)}"><c>${text}&amp;&lt;&gt;</c><d/>t</r>`;
  }
}

/** `tools`: what the suite has for its other scenarios. */
export async function randomRows(connection, { batch, query, describe, send, declared, native, same }) {
  const { types, forms } = JSON.parse(readFileSync(join(process.env.MILLRACE_DRIVER_TESTS, 'random_types.json'), 'utf8'));
  // tedious has no parameter of sql_variant.
  const columns = types.filter((type) => type !== 'sql_variant').map((type, n) => new Column(n, type));
  const r = new Random(Number(process.env.MILLRACE_RANDOM_SEED ?? 1));
  const rows = [...Array(Number(process.env.MILLRACE_RANDOM_ROWS ?? 100))].map(() => columns.map((column) => column.text(r)));
  const values = rows.map((row) => row.map((text, i) => (text === null ? null : native(columns[i].kind, text))));
  const listed = columns.map((column) => column.name).join(', ');
  const all = columns.map((column) => `${column.name} ${column.type} NULL`).join(', ');
  for (const way of WAYS) await batch(connection, `DROP TABLE IF EXISTS dbo.${way}; CREATE TABLE dbo.${way} (id int NOT NULL PRIMARY KEY, ${all})`);
  await batch(connection, `IF TYPE_ID(N'dbo.random_row') IS NOT NULL DROP TYPE dbo.random_row; CREATE TYPE dbo.random_row AS TABLE (id int NOT NULL, ${all})`);

  const insert = `INSERT INTO dbo.by_parameters (id, ${listed}) VALUES (@id, ${columns.map((column) => `@${column.name}`).join(', ')})`;
  for (const [n, row] of values.entries()) {
    const parameters = columns.map((column, i) => {
      const [type, options] = column.declared(declared);
      return [column.name, type, row[i], options];
    });
    await noting(`row ${n} by parameters`, () => send(connection, insert, { parameters: [['id', TYPES.Int, n], ...parameters] }));
  }
  await noting('a bulk load', () => new Promise((resolve, reject) => {
    const bulk = connection.newBulkLoad('dbo.by_bulk_load', { keepNulls: true }, (error) => (error ? reject(error) : resolve()));
    bulk.addColumn('id', TYPES.Int, { nullable: false });
    for (const column of columns) bulk.addColumn(column.name, ...column.declared(declared, true));
    connection.execBulkLoad(bulk, values.map((row, n) => [n, ...row]));
  }));
  await noting('a table-valued parameter', async () => {
    const header = [{ name: 'id', type: TYPES.Int }, ...columns.map((column) => {
      const [type, options] = column.declared(declared);
      return { name: column.name, type, ...options };
    })];
    for (let from = 0; from < values.length; from += 500) {
      const part = values.slice(from, from + 500).map((row, n) => [from + n, ...row]);
      const rowsOf = ['rows', TYPES.TVP, { name: 'random_row', schema: 'dbo', columns: header, rows: part }];
      await send(connection, `INSERT INTO dbo.by_table (id, ${listed}) SELECT id, ${listed} FROM @rows`, { parameters: [rowsOf] });
    }
  });

  for (const way of WAYS) {
    for (const [where, parameters] of [['', []], [' WHERE id >= @from', [['from', TYPES.Int, 0]]]]) {
      const got = await query(connection, `SELECT id, ${listed} FROM dbo.${way}${where} ORDER BY id`, parameters);
      equal(got.length, rows.length, `${way}${where}: rows`);
      for (const [i, column] of columns.entries()) {
        const wrong = got.map((_, n) => n).filter((n) => !(rows[n][i] === null ? got[n][i + 1] === null : got[n][i + 1] !== null && alike(column, rows[n][i], got[n][i + 1], same)));
        for (const n of wrong.slice(0, 3)) check(false, `${way}${where}: ${column.type}, row ${n}: expected ${shown(rows[n][i])}, got ${shown(got[n][i + 1])}`);
      }
    }
  }
  // What T-SQL computes of each value, where the client has not rounded it (`alike`).
  const exact = columns.filter((column) => !(column.word === 'decimal' && column.second > 22));
  const sums = exact.map(({ word, name }) => `HASHBYTES('SHA2_256', ${forms[word].replaceAll('$', name)})`).join(', ');
  const at = exact.map((column) => columns.indexOf(column));
  for (const way of WAYS) {
    const bad = {};
    for (const [n, row] of (await query(connection, `SELECT ${sums} FROM dbo.${way} ORDER BY id`)).entries()) {
      for (const [i, column] of exact.entries()) {
        const text = rows[n][at[i]];
        const want = text === null ? null : createHash('sha256').update(column.form(text)).digest('hex');
        if ((row[i] === null ? null : row[i].toString('hex')) === want) continue;
        bad[column.type] = (bad[column.type] ?? 0) + 1;
        check(bad[column.type] > 3, `${way}: ${column.type}, row ${n}: T-SQL's sum is not that of ${shown(text)}`);
      }
    }
    const told = await describe(connection, `SELECT ${listed} FROM dbo.${way} WHERE 1 = 0`);
    for (const [i, column] of columns.entries()) {
      const { type, precision, scale, dataLength, flags, udtInfo, collation } = told[i];
      equal([type.name, precision, scale, column.isClr ? undefined : dataLength, flags & 1].map((v) => v ?? null), [...column.told(), 1].map((v) => v ?? null), `${way}: ${column.type}: what is told of it`);
      if (column.isClr) equal([udtInfo.typeName, udtInfo.owningSchema], [column.word, 'sys'], `${way}: ${column.type}: its name`);
      const page = { C: 'CP1251', G: 'CP1253', J: 'CP932' }[column.collation?.[0]] ?? (column.collation?.endsWith('UTF8') ? 'utf-8' : 'CP1252');
      if (collation) equal(collation.codepage, page, `${way}: ${column.type}: its code page`);
    }
  }
}

/** Is it the value? A decimal with more than 22 places the client divides by what a number does not hold exactly. */
const alike = (column, want, got, same) => same(column.kind, want, got)
  || (column.word === 'decimal' && column.second > 22 && Math.abs(got - Number(want)) <= Math.abs(Number(want)) * 1e-14);

/** As ASCII. */
function shown(value) {
  const text = value instanceof Date ? `${value.toISOString()} +${value.nanosecondsDelta}` : Buffer.isBuffer(value) ? value.toString('hex') : String(value);
  return short([...text].map((c) => (c >= ' ' && c < '\x7f' ? c : `\\u${c.codePointAt(0).toString(16)}`)).join(''), 120);
}
