// Random rows of all types, by seed: written by parameters, by bulk load and as a table-valued parameter, and read back. Every
// value must come back as it went, and the server must hold the three ways' rows for equal.
//
// MILLRACE_RANDOM_ROWS says how many (100 unless it does), MILLRACE_RANDOM_SEED from which seed (1). What a JavaScript number or
// Date cannot hold is left out: decimals have 15 digits at most.

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
    const [, word, first, second] = /^(\w+)(?:\((max|\d+)(?:,(\d+))?\))?$/.exec(type);
    Object.assign(this, { name: `c${n}`, type, word: word === 'numeric' ? 'decimal' : word });
    this.first = first === undefined ? 0 : first === 'max' ? -1 : Number(first);
    this.second = Number(second ?? 0);
    this.isOld = ['text', 'ntext', 'image'].includes(word);
    const kinds = {
      tinyint: 'int', smallint: 'int', smallmoney: 'money', char: 'varchar', text: 'varchar', nchar: 'nvarchar', ntext: 'nvarchar',
      varbinary: 'binary', image: 'binary', smalldatetime: 'datetime', uniqueidentifier: 'guid', xml: 'nvarchar',
    };
    this.kind = kinds[this.word] ?? this.word;
    this.scale = /^(time|datetime2|datetimeoffset)$/.test(word) ? this.first : word === 'datetime' ? 3 : 0;
  }

  /** Type and options of a parameter; `lasting`: as a column of the table has it. */
  declared(of, lasting) {
    const like = { text: 'varchar(max)', ntext: 'nvarchar(max)', image: 'varbinary(max)', xml: 'nvarchar(max)' }[this.word];
    const [type, options] = of(like ?? this.type);
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
    if (this.first <= 0) return edge ? r.pick(4000, 4001, 8000, 8001, 70000) : r.below(r.below(20) === 0 ? 30000 : 60);
    // A row has room for one long value, not for all of them.
    if (this.first > 1000) return edge && r.below(20) === 0 ? 2000 : r.below(100);
    return edge ? this.first : r.below(this.first + 1);
  }

  narrow(r, length) {
    return [...Array(length)].map(() => r.pick(...WESTERN)).join('');
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

  hex(r, length) {
    return [...Array(length)].map(() => two(r.below(256).toString(16))).join('');
  }

  xml(r, edge) {
    if (edge) return r.pick('', '<e/>');
    const text = `${[...Array(1 + r.below(30))].map(() => r.pick(...'abc äßλ漢字xyz')).join('').trim()}z`;
    return `<r a="${text} &lt;&amp;" n="${r.below(2 ** 31)}"><c>${text}&amp;&lt;&gt;</c><d/>t</r>`;
  }
}

/** `tools`: what the suite has for its other scenarios. */
export async function randomRows(connection, { batch, query, scalar, send, declared, native, same }) {
  const types = JSON.parse(readFileSync(join(process.env.MILLRACE_DRIVER_TESTS, 'random_types.json'), 'utf8'));
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
  // The server's own comparison.
  for (const way of WAYS.slice(1)) {
    for (const { name, type, word, isOld } of columns) {
      const [a, b] = ['a', 'b'].map((t) => (isOld || word === 'xml' ? `CAST(${t}.${name} AS ${word === 'image' ? 'varbinary(max)' : 'nvarchar(max)'})` : `${t}.${name}`));
      const wrong = await scalar(connection, `SELECT COUNT(*) FROM dbo.${WAYS[0]} a FULL JOIN dbo.${way} b ON a.id = b.id WHERE a.id IS NULL OR b.id IS NULL`
        + ` OR (a.${name} IS NULL AND b.${name} IS NOT NULL) OR (a.${name} IS NOT NULL AND b.${name} IS NULL) OR ${a} <> ${b} OR DATALENGTH(a.${name}) <> DATALENGTH(b.${name})`);
      equal(wrong, 0, `${type}: rows that differ between ${WAYS[0]} and ${way}`);
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
