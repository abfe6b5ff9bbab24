// Round trips of tedious and pg by one connection; ../README.md ("Round trips") says what is asked and answered.
//
// Each as its manual has it: tedious's execSql with parameters, pg's query with values. Neither prepares unless it is told to.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { Connection, Request, TYPES } from 'tedious';

const [host, port, user, password] = ['HOST', 'PORT', 'USER', 'PASSWORD'].map((name) => process.env[`MILLRACE_${name}`]);

async function tedious() {
  const connection = new Connection({
    server: host,
    authentication: { type: 'default', options: { userName: user, password } },
    options: { port: Number(port), database: 'round_trips', encrypt: false, trustServerCertificate: true },
  });
  const failed = new Promise((_, no) => connection.on('connect', (error) => error && no(error)));
  connection.connect();
  await Promise.race([once(connection, 'connect'), failed]);
  // The values of the one row, or none.
  const run = (text, parameters) =>
    new Promise((yes, no) => {
      let row;
      const request = new Request(text, (error) => (error ? no(error) : yes(row)));
      for (const [name, type, value] of parameters) request.addParameter(name, type, value);
      request.on('row', (columns) => (row = columns.map((column) => column.value)));
      connection.execSql(request);
    });
  return {
    select: (id) => run('SELECT value, name FROM kept WHERE id = @id', [['id', TYPES.Int, id]]),
    insert: (value, name) =>
      run('INSERT INTO added (value, name) VALUES (@value, @name)', [
        ['value', TYPES.Int, value],
        ['name', TYPES.VarChar, name],
      ]),
    close: () => connection.close(),
  };
}

async function postgres() {
  const client = new pg.Client({ host, port: Number(port), user, password, database: 'round_trips', ssl: false });
  await client.connect();
  return {
    select: async (id) => {
      const { rows } = await client.query('SELECT value, name FROM kept WHERE id = $1', [id]);
      return [rows[0].value, rows[0].name];
    },
    insert: (value, name) => client.query('INSERT INTO added (value, name) VALUES ($1, $2)', [value, name]),
    close: () => client.end(),
  };
}

const client = process.env.MILLRACE_DRIVER === 'pg' ? await postgres() : await tedious();
let at = 0;

// Every one of the 10,000 rows in turn, in no order.
function next() {
  at = (at * 21 + 7) % 10_000;
  return at + 1;
}

const works = {
  select: async () => {
    const id = next();
    const [value, name] = await client.select(id);
    if (value !== id || name !== `the name of row ${id}`) throw new Error(`row ${id} came as ${value}, ${name}`);
  },
  insert: () => {
    const value = next();
    return client.insert(value, `the name of row ${value}`);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [work, seconds] = line.split(' ');
  const begun = performance.now();
  const end = begun + Number(seconds) * 1000;
  let [count, now] = [0, begun];
  while (now < end) {
    await works[work]();
    count++;
    now = performance.now();
  }
  console.log(`${count} ${(now - begun) / 1000}`);
}
await client.close();
