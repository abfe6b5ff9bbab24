// tedious, in its defaults: encrypt is on and the certificate is verified; the server's own is the only one trusted.

import { readFileSync } from 'node:fs';
import { Connection, ISOLATION_LEVEL, Request, TYPES } from 'tedious';
import { check, env, equal, fixtures, noting, run, short, types } from './frame.js';
import { randomRows } from './random-rows.js';

const DATABASE = 'drv_tedious';
const open = new Set();
let made = false;

function connect({ database = DATABASE, password = env.password, trust = true, ...options } = {}) {
  const connection = new Connection({
    server: env.host,
    authentication: { type: 'default', options: { userName: env.user, password } },
    options: {
      port: env.port,
      database,
      connectTimeout: 10000,
      cryptoCredentialsDetails: trust ? { ca: readFileSync(env.certificate) } : {},
      ...options,
    },
  });
  return new Promise((resolve, reject) => {
    // The error of a refused login has no number; the messages that came before it do.
    const messages = [];
    connection.on('errorMessage', (message) => messages.push(message));
    connection.on('error', () => {});
    connection.connect((error) => {
      if (error) return reject(messages.length ? Object.assign(error, { errors: messages }) : error);
      open.add(connection);
      resolve(connection);
    });
  });
}

/** A connection to the suite's own database, made when first asked for. */
async function opened(options) {
  if (!made) {
    const connection = await connect({ database: 'master' });
    await query(connection, `IF DB_ID(N'${DATABASE}') IS NULL CREATE DATABASE ${DATABASE}`);
    connection.close();
    made = true;
  }
  return connect(options);
}

/** Everything that a request answers. */
function send(connection, sql, { parameters = [], how = 'execSql', outputs = [], columns: described } = {}) {
  return new Promise((resolve, reject) => {
    const answer = { results: [], counts: [], outputs: {}, status: undefined };
    const request = new Request(sql, (error, rowCount) => {
      answer.rowCount = rowCount;
      if (error) {
        error.answer = answer;
        return reject(error);
      }
      resolve(answer);
    });
    for (const [name, type, value, options] of parameters) request.addParameter(name, type, value, options);
    for (const [name, type, value, options] of outputs) request.addOutputParameter(name, type, value, options);
    request.on('columnMetadata', (columns) => answer.results.push({ columns: columns.map((c) => c.colName), rows: [] }));
    if (described) request.on('columnMetadata', described);
    request.on('row', (columns) => answer.results.at(-1).rows.push(columns.map((c) => c.value)));
    request.on('done', (count) => answer.counts.push(count));
    request.on('doneInProc', (count) => answer.counts.push(count));
    request.on('doneProc', (count, more, status) => { answer.status = status; });
    request.on('returnValue', (name, value) => { answer.outputs[name] = value; });
    connection[how](request);
  });
}

const query = async (connection, sql, parameters) => (await send(connection, sql, { parameters })).results[0]?.rows;
/** The columns of a query's result, as the client has them. */
const describe = async (connection, sql) => {
  let told;
  const { results } = await send(connection, sql, { columns: (columns) => { told = columns; } });
  return results.length && told;
};
const batch = (connection, sql) => send(connection, sql, { how: 'execSqlBatch' });
const scalar = async (connection, sql, parameters) => (await query(connection, sql, parameters))[0]?.[0];

async function fixture(connection, name) {
  for (const sql of fixtures[name]) await batch(connection, sql);
}

async function refused(number, what, work) {
  try {
    await work();
  } catch (error) {
    equal(first(error).number, number, `${what}: error number (${short(error.message)})`);
    return error;
  }
  check(false, `${what}: was not refused`);
}

/** A request with several errors fails with an AggregateError of them. */
const first = (error) => error.errors?.[0] ?? error.cause ?? error;

const call = (connection, method, ...more) => new Promise((resolve, reject) => {
  connection[method]((error, ...values) => (error ? reject(error) : resolve(values)), ...more);
});

const begin = (connection, isolation) => call(connection, 'beginTransaction', '', isolation);

// -- values ------------------------------------------------------------------------------------------------------------

const digits = (n, width) => String(n).padStart(width, '0');

/** A Date and its nanoseconds (tedious adds them as a property) as text in UTC with `scale` digits. */
function clock(date, scale) {
  const ticks = date.getUTCMilliseconds() * 10000 + Math.round((date.nanosecondsDelta ?? 0) * 1e7);
  const time = `${digits(date.getUTCHours(), 2)}:${digits(date.getUTCMinutes(), 2)}:${digits(date.getUTCSeconds(), 2)}`;
  return scale ? `${time}.${digits(ticks, 7).slice(0, scale)}` : time;
}

const day = (date) => `${digits(date.getUTCFullYear(), 4)}-${digits(date.getUTCMonth() + 1, 2)}-${digits(date.getUTCDate(), 2)}`;

/** Whether what the client gave is the value, as far as a JavaScript number or Date can hold it. */
function same(kind, text, got) {
  const scale = /\.(\d+)/.exec(text)?.[1].length ?? 0;
  switch (kind) {
    case 'bit': return got === (text === '1');
    case 'int': return got === Number(text);
    case 'bigint': return got === text;
    case 'decimal': case 'float': return got === Number(text);
    // Ten-thousandths, summed in floating point by the client.
    case 'money': return Math.abs(got - Number(text)) <= Math.abs(Number(text)) * 1e-15;
    case 'real': return Math.fround(got) === Math.fround(Number(text));
    case 'varchar': case 'nvarchar': return got === text;
    case 'binary': return Buffer.isBuffer(got) && got.toString('hex') === text;
    case 'date': return day(got) === text;
    case 'time': return clock(got, scale) === text;
    case 'datetime': case 'datetime2': return `${day(got)} ${clock(got, scale)}` === text;
    // The client keeps the moment and drops the offset.
    case 'datetimeoffset': return `${day(got)} ${clock(got, scale)}` === inUtc(text, scale);
    case 'guid': return got === text;
    default: throw new Error(`kind ${kind}`);
  }
}

function inUtc(text, scale) {
  const [, date, time, fraction = '', sign, hours, minutes] = /^(\S+) (\d+:\d+:\d+)(\.\d+)? ([+-])(\d\d):(\d\d)$/.exec(text);
  const moment = new Date(`${date}T${time}Z`);
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  moment.setTime(moment.getTime() - offset * 60000);
  return `${day(moment)} ${clock(moment, 0)}${scale ? fraction : ''}`;
}

/** The declared type of a parameter, from the type's name. */
function declared(name) {
  const [, word, length] = /^(\w+)(?:\(([^)]*)\))?$/.exec(name);
  const [a, b] = (length ?? '').split(',').map((n) => (n === 'max' ? Infinity : Number(n)));
  const names = {
    bit: 'Bit', tinyint: 'TinyInt', smallint: 'SmallInt', int: 'Int', bigint: 'BigInt', decimal: 'Decimal',
    numeric: 'Numeric', smallmoney: 'SmallMoney', money: 'Money', real: 'Real', float: 'Float', char: 'Char',
    varchar: 'VarChar', nchar: 'NChar', nvarchar: 'NVarChar', binary: 'Binary', varbinary: 'VarBinary', date: 'Date',
    time: 'Time', smalldatetime: 'SmallDateTime', datetime: 'DateTime', datetime2: 'DateTime2',
    datetimeoffset: 'DateTimeOffset', uniqueidentifier: 'UniqueIdentifier',
  };
  const type = TYPES[names[word]];
  if (word === 'decimal' || word === 'numeric') return [type, { precision: a, scale: b || 0 }];
  if (/^(time|datetime2|datetimeoffset)$/.test(word)) return [type, { scale: a }];
  return [type, length ? { length: a } : {}];
}

/** The value as a program passes it; undefined: a JavaScript number or Date cannot hold it. */
function native(kind, text) {
  switch (kind) {
    case 'bit': return text === '1';
    case 'int': case 'float': case 'real': return Number(text);
    case 'bigint': return BigInt(text);
    case 'decimal': case 'money': return text.replace(/[-.]/g, '').replace(/^0+/, '').length <= 15 ? Number(text) : undefined;
    case 'binary': return Buffer.from(text, 'hex');
    case 'date': return new Date(`${text}T00:00:00Z`);
    case 'time': return stamp(`1970-01-01T${text}Z`);
    case 'datetime': case 'datetime2': return stamp(`${text.replace(' ', 'T')}Z`);
    case 'datetimeoffset': return stamp(text.replace(' ', 'T').replace(' ', ''));
    default: return text;
  }
}

function stamp(text) {
  const date = new Date(text.replace(/(\.\d{3})\d+/, '$1'));
  date.nanosecondDelta = Number(`0.000${(/\.\d{3}(\d+)/.exec(text)?.[1] ?? '0')}`);
  return date;
}

// -- scenarios ---------------------------------------------------------------------------------------------------------

const scenarios = {
  async connect() {
    const connection = await opened();
    equal(await scalar(connection, 'SELECT 1'), 1, 'SELECT 1');
    equal(await scalar(connection, 'SELECT DB_NAME()'), DATABASE, 'DB_NAME()');
    check((await scalar(connection, 'SELECT @@VERSION')).length > 10, '@@VERSION');
    const second = await opened();
    const spid = await scalar(connection, 'SELECT @@SPID');
    check(spid !== await scalar(second, 'SELECT @@SPID'), 'two connections have one @@SPID');
    second.close();
    equal(await scalar(connection, 'SELECT @@SPID'), spid, '@@SPID after the other closed');
  },

  async encryption() {
    const sql = 'SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID';
    const failure = await connect({ database: 'master', trust: false }).then(() => null, (error) => error);
    check(failure && /self.signed|unable to verify|certificate/i.test(failure.message),
      `without the certificate: ${failure ? failure.message : 'connected all the same'}`);
    const optional = await opened({ encrypt: false });
    equal(await scalar(optional, 'SELECT 1'), 1, 'encrypt: false');
    equal(await scalar(await opened(), sql), 'TRUE', 'encrypt_option');
    equal(await scalar(optional, sql), 'FALSE', 'encrypt_option with encrypt: false');
    const strict = await opened({ encrypt: 'strict', serverName: 'localhost' });
    equal(await scalar(strict, sql), 'TRUE', "encrypt_option with encrypt: 'strict'");
  },

  async 'wrong-password'() {
    await refused(18456, 'wrong password', () => connect({ database: 'master', password: 'not-it' }));
    await refused(18456, 'empty password', () => connect({ database: 'master', password: '' }));
    equal(await scalar(await opened(), 'SELECT 1'), 1, 'the next login');
  },

  async 'unknown-database'() {
    await refused(4060, 'unknown database', () => connect({ database: 'no_such_database' }));
    const connection = await opened();
    await refused(911, 'USE of an unknown database', () => batch(connection, 'USE no_such_database'));
    equal(await scalar(connection, 'SELECT DB_NAME()'), DATABASE, 'DB_NAME() after the refusal');
  },

  async types() {
    const connection = await opened();
    for (const { type, kind, values } of types) {
      await noting(type, async () => {
        for (const { sql, text } of values) {
          const got = await scalar(connection, `SELECT CAST(${sql} AS ${type}) AS v`);
          check(same(kind, text, got), `${type} CAST: expected ${short(text)}, got ${short(got)}`);
        }
        await batch(connection, 'DROP TABLE IF EXISTS dbo.typed');
        await batch(connection, `CREATE TABLE dbo.typed (id int NOT NULL PRIMARY KEY, v ${type} NULL)`);
        for (const [number, { sql }] of values.entries()) {
          await batch(connection, `INSERT INTO dbo.typed (id, v) VALUES (${number}, ${sql})`);
        }
        await batch(connection, 'INSERT INTO dbo.typed (id, v) VALUES (1000, NULL)');
        const rows = await query(connection, 'SELECT id, v FROM dbo.typed ORDER BY id');
        equal(rows.length, values.length + 1, `${type}: rows in the table`);
        values.forEach(({ text }, n) => {
          check(same(kind, text, rows[n][1]), `${type} column: expected ${short(text)}, got ${short(rows[n][1])}`);
        });
        equal(rows.at(-1)[1], null, `${type}: NULL`);
      });
    }
  },

  async parameters() {
    const connection = await opened();
    for (const { type, kind, values } of types) {
      const [of, options] = declared(type);
      await noting(type, async () => {
        await batch(connection, 'DROP TABLE IF EXISTS dbo.sent');
        await batch(connection, `CREATE TABLE dbo.sent (id int NOT NULL PRIMARY KEY, v ${type} NULL)`);
        for (const [number, { sql, text }] of values.entries()) {
          const value = native(kind, text);
          if (value === undefined) continue;
          await noting(`${type} ${short(text, 60)}`, async () => {
            await send(connection, 'INSERT INTO dbo.sent (id, v) VALUES (@id, @v)',
              { parameters: [['id', TYPES.Int, number], ['v', of, value, options]] });
            const rows = await query(connection,
              `SELECT v, CASE WHEN v = CAST(${sql} AS ${type}) THEN 1 ELSE 0 END FROM dbo.sent WHERE id = @id`,
              [['id', TYPES.Int, number]]);
            check(same(kind, text, rows[0][0]), `${type}: sent ${short(text)}, got back ${short(rows[0][0])}`);
            // A Date has milliseconds; the digits below go as a property that rounds in floating point.
            equal(rows[0][1], 1, `${type} ${short(text)}: equal on the server`);
          });
        }
        await send(connection, 'INSERT INTO dbo.sent (id, v) VALUES (1000, @v)', { parameters: [['v', of, null, options]] });
        equal(await scalar(connection, 'SELECT COUNT(*) FROM dbo.sent WHERE v IS NULL'), 1, `${type}: NULL sent`);
      });
    }
    const row = await query(connection, 'SELECT @a + @b, @s, @none',
      [['a', TYPES.Int, 40], ['b', TYPES.Int, 2], ['s', TYPES.NVarChar, "x'y😀"], ['none', TYPES.NVarChar, null]]);
    equal(row[0], [42, "x'y😀", null], 'several parameters');
  },

  async 'output-parameters'() {
    const connection = await opened();
    await fixture(connection, 'out_params');
    await fixture(connection, 'out_and_rows');
    const answer = await send(connection, 'dbo.out_params', {
      how: 'callProcedure',
      parameters: [['a', TYPES.Int, 21]],
      outputs: [['b', TYPES.Int], ['s', TYPES.NVarChar, 'abc', { length: 50 }], ['d', TYPES.Decimal, null, { precision: 10, scale: 3 }]],
    });
    equal(answer.outputs, { b: 42, s: 'abc 😀', d: 1234567.891 }, 'outputs');
    equal(answer.status, 42, 'return status');
    const other = await send(connection, 'dbo.out_and_rows', { how: 'callProcedure', outputs: [['n', TYPES.Int]] });
    equal(other.results.map((r) => r.rows), [[[1], [2]], [['x']]], 'results of a procedure');
    equal([other.outputs.n, other.status], [7, -3], 'output and status after results');
    const text = await send(connection, 'SET @n = @n + 1', { outputs: [['n', TYPES.Int, 4]] });
    equal(text.outputs.n, 5, 'an output of a statement');
  },

  async prepared() {
    const connection = await opened();
    await fixture(connection, 'everything');
    let done;
    const request = new Request('INSERT INTO dbo.everything (id, n, s) VALUES (@id, @n, @s)', (error, count) => done(error, count));
    request.addParameter('id', TYPES.Int);
    request.addParameter('n', TYPES.BigInt);
    request.addParameter('s', TYPES.NVarChar, undefined, { length: 100 });
    const step = (work) => new Promise((resolve, reject) => {
      done = (error, count) => (error ? reject(error) : resolve(count));
      work();
    });
    await new Promise((resolve, reject) => {
      done = reject;
      request.once('prepared', resolve);
      connection.prepare(request);
    });
    // 'prepared' comes before the request has ended.
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (let n = 0; n < 100; n += 1) {
      equal(await step(() => connection.execute(request, { id: n, n: n * 1e9, s: `row ${n} Ω` })), 1, `rows of insert ${n}`);
    }
    await step(() => connection.execute(request, { id: 100, n: null, s: null }));
    await refused(2627, 'a duplicate by a prepared statement', () => step(() => connection.execute(request, { id: 1, n: 1, s: 'x' })));
    equal(await scalar(connection, 'SELECT COUNT(*) FROM dbo.everything'), 101, 'rows');
    equal(await query(connection, 'SELECT n, s FROM dbo.everything WHERE id = 99'), [['99000000000', 'row 99 Ω']], 'the last row');
  },

  async transactions() {
    const [connection, other] = [await opened(), await opened()];
    await fixture(connection, 'account');
    const balance = () => scalar(other, 'SELECT balance FROM dbo.account WHERE id = 1');
    const add = 'UPDATE dbo.account SET balance = balance + 1 WHERE id = 1';
    await begin(connection);
    await query(connection, add);
    equal(await scalar(connection, 'SELECT @@TRANCOUNT'), 1, '@@TRANCOUNT');
    await call(connection, 'rollbackTransaction');
    equal(await balance(), 100, 'after rollback');
    await begin(connection);
    await query(connection, add);
    await call(connection, 'commitTransaction');
    equal(await balance(), 101, 'after commit');
    await begin(connection);
    await query(connection, 'DELETE FROM dbo.account');
    connection.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
    equal(await scalar(other, 'SELECT COUNT(*) FROM dbo.account'), 3, 'rows after a close without commit');
    await batch(other, 'BEGIN TRANSACTION');
    await batch(other, 'DELETE FROM dbo.account');
    await batch(other, 'ROLLBACK TRANSACTION');
    equal(await scalar(other, 'SELECT COUNT(*) FROM dbo.account'), 3, 'rows after ROLLBACK TRANSACTION');
  },

  async savepoints() {
    const connection = await opened();
    await fixture(connection, 'account');
    await begin(connection);
    await query(connection, 'UPDATE dbo.account SET balance = 1 WHERE id = 1');
    await call(connection, 'saveTransaction', 'here');
    await query(connection, 'UPDATE dbo.account SET balance = 2 WHERE id = 1');
    await query(connection, "INSERT INTO dbo.account (id, owner) VALUES (9, N'Gone')");
    await call(connection, 'rollbackTransaction', 'here');
    equal(await scalar(connection, 'SELECT COUNT(*) FROM dbo.account'), 3, 'rows after going back');
    await call(connection, 'commitTransaction');
    equal(await scalar(connection, 'SELECT balance FROM dbo.account WHERE id = 1'), 1, 'what was before the save point');
    // A transaction within a transaction is a save point in tedious.
    await new Promise((resolve, reject) => connection.transaction((error, outer) => {
      if (error) return reject(error);
      connection.transaction((failure, inner) => {
        if (failure) return reject(failure);
        inner(null, (e1) => outer(null, (e2) => (e1 || e2 ? reject(e1 || e2) : resolve())));
      });
    }));
    equal(await scalar(connection, 'SELECT @@TRANCOUNT'), 0, '@@TRANCOUNT after');
  },

  async 'isolation-levels'() {
    const connection = await opened();
    await fixture(connection, 'account');
    await batch(connection, `ALTER DATABASE ${DATABASE} SET ALLOW_SNAPSHOT_ISOLATION ON`);
    const names = ['READ_UNCOMMITTED', 'READ_COMMITTED', 'REPEATABLE_READ', 'SERIALIZABLE', 'SNAPSHOT'];
    for (const name of names) {
      await noting(name, async () => {
        await begin(connection, ISOLATION_LEVEL[name]);
        const sql = 'SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID';
        equal(await scalar(connection, 'SELECT balance FROM dbo.account WHERE id = 1'), 100, name);
        equal(await scalar(connection, sql), ISOLATION_LEVEL[name], `${name}: as the server sees it`);
        await call(connection, 'commitTransaction');
      });
    }
    const other = await opened();
    await begin(connection, ISOLATION_LEVEL.SNAPSHOT);
    await scalar(connection, 'SELECT balance FROM dbo.account WHERE id = 1');
    await query(other, 'UPDATE dbo.account SET balance = 7 WHERE id = 1');
    equal(await scalar(connection, 'SELECT balance FROM dbo.account WHERE id = 1'), 100, 'SNAPSHOT reads what was');
    await call(connection, 'commitTransaction');
    await begin(connection, ISOLATION_LEVEL.SERIALIZABLE);
    equal(await scalar(connection, 'SELECT COUNT(*) FROM dbo.account WHERE id BETWEEN 1 AND 50'), 3, 'rows of the range');
    await batch(other, 'SET LOCK_TIMEOUT 200');
    await refused(1222, 'a writer under SERIALIZABLE', () => batch(other, "INSERT INTO dbo.account (id, owner) VALUES (20, N'Phantom')"));
    await call(connection, 'commitTransaction');
  },

  async 'result-sets'() {
    const connection = await opened();
    await fixture(connection, 'account');
    const answer = await batch(connection,
      "SELECT 1 AS a; SELECT N'x' AS b, 2 AS c WHERE 1 = 0; SELECT id, owner FROM dbo.account ORDER BY id; UPDATE dbo.account SET balance = 0 WHERE id <= 2");
    equal(answer.results, [
      { columns: ['a'], rows: [[1]] }, { columns: ['b', 'c'], rows: [] },
      { columns: ['id', 'owner'], rows: [[1, 'Ann'], [2, 'Bob'], [3, 'Çelik 😀']] },
    ], 'results');
    equal(answer.counts, [1, 0, 3, 2], 'row counts');
    const none = await batch(connection, 'SET NOCOUNT ON; UPDATE dbo.account SET balance = 0; SET NOCOUNT OFF');
    equal(none.counts.filter((count) => count !== undefined), [], 'row counts under NOCOUNT');
    const many = await query(connection, 'SELECT TOP 5000 ROW_NUMBER() OVER (ORDER BY a.id) AS n FROM dbo.account a, dbo.account b, dbo.account c, dbo.account d, dbo.account e, dbo.account f, dbo.account g, dbo.account h');
    equal(many.length, 5000, 'rows of a long result');
    equal(many.reduce((sum, [n]) => sum + Number(n), 0), 12502500, 'sum of a long result');
  },

  async messages() {
    const connection = await opened();
    await fixture(connection, 'says');
    const got = [];
    connection.on('infoMessage', (message) => got.push([message.number, message.class, message.state, message.message, message.procName]));
    await batch(connection, 'EXEC dbo.says');
    equal(got.map((m) => m.slice(0, 4)), [[0, 0, 1, 'hello Ω'], [50000, 5, 3, 'warned once']], 'messages');
    got.length = 0;
    await batch(connection, 'USE master');
    equal(got.map((m) => m[0]), [5701], 'message of USE');
  },

  async errors() {
    const connection = await opened();
    await fixture(connection, 'account');
    await fixture(connection, 'fails');
    const expected = [
      ['EXEC dbo.fails', [50000, 15, 7, 4, 'fails', 'boom 42']],
      ['\n\nSELECT 1/0 AS x', [8134, 16, 1, 3, '', 'Divide by zero']],
      ['SELECT *\nFROM dbo.nothing_here', [208, 16, 1, 2, '', 'nothing_here']],
      ["INSERT INTO dbo.account (id, owner) VALUES (1, N'again')", [2627, 14, 1, 1, '', 'pk_account']],
      ['SELEC * FROM t', [102, 15, 1, 1, '', '*']],
      ["THROW 51234, N'thrown Ω', 9", [51234, 16, 9, 1, '', 'thrown Ω']],
    ];
    for (const [sql, want] of expected) {
      await noting(sql.trim(), async () => {
        const failure = await batch(connection, sql).then(() => null, (error) => first(error));
        if (!failure) return check(false, `${sql.trim()}: no error`);
        const procedure = (failure.procName ?? '').split('.').at(-1);
        equal([failure.number, failure.class, failure.state, failure.lineNumber, procedure], want.slice(0, 5), sql.trim());
        check(failure.message.includes(want[5]), `${sql.trim()}: text ${failure.message}`);
      });
    }
    equal(await scalar(connection, 'SELECT 1'), 1, 'after the errors');
  },

  async 'error-mid-batch'() {
    const connection = await opened();
    await fixture(connection, 'account');
    const failure = await refused(2627, 'the batch', () => batch(connection,
      "SELECT 1 AS a; INSERT INTO dbo.account (id, owner) VALUES (1, N'twice'); INSERT INTO dbo.account (id, owner) VALUES (5, N'after'); SELECT 2 AS b"));
    equal(failure.answer.results.map((r) => r.rows), [[[1]], [[2]]], 'results before and after the error');
    equal(await scalar(connection, 'SELECT COUNT(*) FROM dbo.account'), 4, 'the batch went on after the error');
    const partly = await refused(245, 'a row that fails', () => batch(connection, "SELECT CONVERT(int, v) AS n FROM (VALUES ('1'), ('2'), ('x')) AS t(v)"));
    check(partly.answer.results.length <= 1, 'results of a row that fails');
    equal(await scalar(connection, 'SELECT 1'), 1, 'after');
  },

  async cancel() {
    const connection = await opened();
    const start = Date.now();
    setTimeout(() => connection.cancel(), 300);
    const failure = await batch(connection, "WAITFOR DELAY '00:00:20'").then(() => null, (error) => error);
    equal(failure?.code, 'ECANCEL', 'the cancelled statement');
    check(Date.now() - start < 10000, `cancel took ${Date.now() - start} ms`);
    equal(await scalar(connection, 'SELECT 1'), 1, 'the connection after the cancel');
    await fixture(connection, 'account');
    const again = Date.now();
    const tables = [...Array(16).keys()].map((n) => `dbo.account t${n}`).join(', ');
    setTimeout(() => connection.cancel(), 300);
    const other = await batch(connection, `SELECT t1.owner FROM ${tables}`).then(() => null, (error) => error);
    equal(other?.code, 'ECANCEL', 'the cancelled result');
    check(Date.now() - again < 10000, `cancel of a result took ${Date.now() - again} ms`);
    equal(await scalar(connection, 'SELECT 2'), 2, 'the connection after the second cancel');
    // Paused, so that the server waits for the client, then cancelled: no row comes after the pause.
    const paused = await new Promise((resolve) => {
      let rows = 0;
      const request = new Request(`SELECT t1.owner, REPLICATE('x', 2000) AS s FROM ${tables}`, (error) => resolve({ code: error?.code, rows }));
      request.on('row', () => {
        rows += 1;
        if (rows !== 1000) return;
        request.pause();
        setTimeout(() => connection.cancel(), 200);
      });
      connection.execSql(request);
    });
    equal(paused, { code: 'ECANCEL', rows: 1000 }, 'a result that is paused and cancelled');
    equal(await scalar(connection, 'SELECT 3'), 3, 'the connection after the third cancel');
    await begin(connection);
    await query(connection, 'UPDATE dbo.account SET balance = 5 WHERE id = 1');
    setTimeout(() => connection.cancel(), 100);
    await batch(connection, "WAITFOR DELAY '00:00:20'").catch(() => {});
    equal(await scalar(connection, 'SELECT @@TRANCOUNT'), 1, 'a cancel keeps the transaction');
    await call(connection, 'commitTransaction');
  },

  async 'query-timeout'() {
    const connection = await opened({ requestTimeout: 1000 });
    const start = Date.now();
    const failure = await batch(connection, "WAITFOR DELAY '00:00:20'").then(() => null, (error) => error);
    equal(failure?.code, 'ETIMEOUT', 'the statement that timed out');
    check(Date.now() - start < 10000, `time-out took ${Date.now() - start} ms`);
    equal(await scalar(connection, 'SELECT 1'), 1, 'the connection after the time-out');
  },

  async 'large-values'() {
    const connection = await opened({ requestTimeout: 20000 });
    await fixture(connection, 'blob');
    const size = 1 << 20;
    const text = '0123456789abcdef'.repeat(size / 16);
    const wide = 'Ωμέγα😀 '.repeat(65536);
    const binary = Buffer.from(Uint8Array.from({ length: size }, (_, n) => n & 255));
    await query(connection, 'INSERT INTO dbo.blob (id, v, n, b) VALUES (1, @v, @n, @b)',
      [['v', TYPES.VarChar, text], ['n', TYPES.NVarChar, wide], ['b', TYPES.VarBinary, binary]]);
    const [row] = await query(connection, 'SELECT v, n, b, DATALENGTH(v), DATALENGTH(n), DATALENGTH(b) FROM dbo.blob');
    check(row[0] === text, `varchar(max): ${short(row[0], 40)}`);
    check(row[1] === wide, `nvarchar(max): ${short(row[1], 40)}`);
    check(Buffer.isBuffer(row[2]) && row[2].equals(binary), 'varbinary(max)');
    equal(row.slice(3).map(Number), [size, 2 * wide.length, size], 'DATALENGTH');
    await query(connection, 'UPDATE dbo.blob SET v = NULL, n = @n, b = 0x', [['n', TYPES.NVarChar, '']]);
    const [empty] = await query(connection, 'SELECT v, n, b FROM dbo.blob');
    equal([empty[0], empty[1], empty[2]?.length], [null, '', 0], 'NULL and empty');
    equal((await scalar(connection, "SELECT REPLICATE(CAST('y' AS varchar(max)), 3000000)")).length, 3000000, '3 MB');
  },

  async 'bulk-copy'() {
    const connection = await opened();
    await fixture(connection, 'everything');
    const load = (rows) => new Promise((resolve, reject) => {
      const bulk = connection.newBulkLoad('dbo.everything', { keepNulls: true }, (error, count) => (error ? reject(error) : resolve(count)));
      bulk.addColumn('id', TYPES.Int, { nullable: false });
      bulk.addColumn('n', TYPES.BigInt, { nullable: true });
      bulk.addColumn('d', TYPES.Decimal, { nullable: true, precision: 18, scale: 4 });
      bulk.addColumn('f', TYPES.Float, { nullable: true });
      bulk.addColumn('b', TYPES.Bit, { nullable: true });
      bulk.addColumn('s', TYPES.NVarChar, { nullable: true, length: 100 });
      bulk.addColumn('v', TYPES.VarChar, { nullable: true, length: 100 });
      bulk.addColumn('x', TYPES.VarBinary, { nullable: true, length: 100 });
      bulk.addColumn('t', TYPES.DateTime2, { nullable: true, scale: 3 });
      bulk.addColumn('g', TYPES.UniqueIdentifier, { nullable: true });
      connection.execBulkLoad(bulk, rows);
    });
    const rows = [...Array(1000).keys()].map((n) => (n % 10 === 9
      ? [n, null, null, null, null, null, null, null, null, null]
      : [n, BigInt(n) * 10000000000n, n / 4, n / 8, n % 2 === 0, `Ω ${n}`, `v${n}`, Buffer.alloc(n % 20, n), new Date(1709208000000 + n),
        `00000000-0000-0000-0000-${n.toString(16).padStart(12, '0').toUpperCase()}`]));
    equal(await load(rows), 1000, 'rows of the load');
    const got = await query(connection, 'SELECT id, n, d, f, b, s, v, x, t, g FROM dbo.everything ORDER BY id');
    const plain = (row) => row.map((v) => (typeof v === 'bigint' ? String(v) : v instanceof Date ? v.toISOString() : Buffer.isBuffer(v) ? v.toString('hex') : v));
    equal(got.length, 1000, 'rows after the load');
    const wrong = got.findIndex((row, n) => JSON.stringify(plain(row)) !== JSON.stringify(plain(rows[n])));
    check(wrong < 0, `row ${wrong}: expected ${JSON.stringify(plain(rows[wrong] ?? []))}, got ${JSON.stringify(plain(got[wrong] ?? []))}`);
    await refused(2627, 'a load of a duplicate', () => load([[5000, ...rows[0].slice(1)], rows[1]]));
    equal(await scalar(connection, 'SELECT COUNT(*) FROM dbo.everything'), 1000, 'rows after a load that failed');
  },

  async 'table-valued-parameters'() {
    const connection = await opened();
    await fixture(connection, 'id_list');
    const columns = [{ name: 'id', type: TYPES.Int }, { name: 'name', type: TYPES.NVarChar, length: 50 }];
    const take = async (rows) => (await send(connection, 'dbo.take_list',
      { how: 'callProcedure', parameters: [['rows', TYPES.TVP, { columns, rows }]] })).results[0].rows[0];
    const rows = [...Array(500).keys()].map((n) => [n, `name ${String(n).padStart(3, '0')}`]);
    equal(await take([...rows, [500, null]]), [501, 125250, 'name 499'], 'a table of 501 rows');
    equal(await take([]), [0, null, null], 'a table without rows');
  },

  async 'random-rows'() {
    await randomRows(await opened({ requestTimeout: 600000 }), { batch, query, describe, send, declared, native, same });
  },

  async 'pooling-reset'() {
    const connection = await opened();
    const spid = await scalar(connection, 'SELECT @@SPID');
    for (const sql of ['CREATE TABLE #left (a int)', 'SET LOCK_TIMEOUT 4321', 'SET DATEFIRST 3', 'USE master', 'BEGIN TRANSACTION']) {
      await batch(connection, sql);
    }
    await call(connection, 'reset');
    equal(await scalar(connection, 'SELECT @@SPID'), spid, 'the same session');
    equal(await scalar(connection, 'SELECT DB_NAME()'), DATABASE, 'database after reset');
    equal(await scalar(connection, "SELECT OBJECT_ID('tempdb..#left')"), null, 'temporary table after reset');
    equal(await scalar(connection, 'SELECT @@LOCK_TIMEOUT'), -1, 'LOCK_TIMEOUT after reset');
    equal(await scalar(connection, 'SELECT @@DATEFIRST'), 7, 'DATEFIRST after reset');
    equal(await scalar(connection, 'SELECT @@TRANCOUNT'), 0, '@@TRANCOUNT after reset');
  },

  async 'time-zones'() {
    const moment = new Date('2024-03-31T01:59:59.123Z');
    for (const useUTC of [true, false]) {
      const connection = await opened({ useUTC });
      await fixture(connection, 'moments');
      await query(connection, 'INSERT INTO dbo.moments (id, o, d) VALUES (1, @o, @d)',
        [['o', TYPES.DateTimeOffset, moment, { scale: 3 }], ['d', TYPES.DateTime2, moment, { scale: 3 }]]);
      const [row] = await query(connection, 'SELECT o, d FROM dbo.moments');
      equal(row.map((d) => d.toISOString()), [moment.toISOString(), moment.toISOString()], `useUTC ${useUTC}`);
      equal(await scalar(connection, "SELECT COUNT(*) FROM dbo.moments WHERE o = '2024-03-31T03:59:59.123+02:00'"), 1, 'the moment on the server');
    }
    const connection = await opened();
    const got = await scalar(connection, "SELECT CAST('2024-03-31T01:59:59.123+05:30' AS datetimeoffset(3))");
    equal(got.toISOString(), '2024-03-30T20:29:59.123Z', 'an offset from the server');
    check(Math.abs(await scalar(connection, 'SELECT SYSDATETIMEOFFSET()') - Date.now()) < 5000, 'SYSDATETIMEOFFSET()');
  },

  async metadata() {
    const connection = await opened();
    await fixture(connection, 'family');
    const columns = await new Promise((resolve, reject) => {
      const request = new Request('SELECT a, b, c, a + 1 AS e FROM dbo.parent', (error) => error && reject(error));
      request.on('columnMetadata', resolve);
      connection.execSql(request);
      request.on('requestCompleted', () => resolve([]));
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const nullable = (c) => (c.flags & 1) === 1;
    equal(columns.map((c) => [c.colName, c.type.name, nullable(c)]),
      [['a', 'Int', false], ['b', 'NVarChar', false], ['c', 'DecimalN', true], ['e', 'IntN', true]], 'columns');
    equal([columns[1]?.dataLength, columns[2]?.precision, columns[2]?.scale], [40, 10, 2], 'lengths');
    const [[id]] = [(await query(connection, 'SELECT id, name, made FROM dbo.child'))].concat([[]]);
    equal(id, undefined, 'no rows of child');
    const names = await query(connection, "SELECT name FROM sys.tables WHERE name IN (N'parent', N'child') ORDER BY name");
    equal(names, [['child'], ['parent']], 'sys.tables');
    const keys = (await send(connection, 'sp_pkeys', { how: 'callProcedure', parameters: [['table_name', TYPES.NVarChar, 'parent']] })).results[0].rows;
    equal(keys.map((r) => [r[3], r[4]]), [['b', 1], ['a', 2]], 'sp_pkeys');
  },
};

// Connections of one scenario do not outlive it.
for (const [name, scenario] of Object.entries(scenarios)) {
  scenarios[name] = async () => {
    try {
      await scenario();
    } finally {
      for (const connection of open) connection.close();
      open.clear();
    }
  };
}

await run(scenarios);
process.exit(0);
