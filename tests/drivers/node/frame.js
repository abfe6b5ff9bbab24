// The frame of the suite: runs the scenarios that it is asked for and prints a line for each.
//
// A scenario is an async function. It succeeds by returning, and fails by throwing or by any check that did not hold.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const env = {
  driver: process.env.MILLRACE_DRIVER,
  host: process.env.MILLRACE_HOST,
  port: Number(process.env.MILLRACE_PORT),
  user: process.env.MILLRACE_USER,
  password: process.env.MILLRACE_PASSWORD,
  certificate: process.env.MILLRACE_CERTIFICATE,
};

const tests = process.env.MILLRACE_DRIVER_TESTS;

export const fixtures = JSON.parse(readFileSync(join(tests, 'fixtures.json'), 'utf8'));

export const types = JSON.parse(readFileSync(join(tests, 'types.json'), 'utf8'));
for (const type of types) {
  for (const value of type.values) value.text = value.text.repeat(value.repeat ?? 1);
}

export class Skip extends Error {}

let problems = [];

export function check(holds, what) {
  if (!holds) problems.push(what);
}

export function equal(got, want, what) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  if (a !== b) problems.push(`${what}: expected ${short(b)}, got ${short(a)}`);
}

/** An error inside is noted as a problem, and the scenario goes on. */
export async function noting(what, work) {
  try {
    await work();
  } catch (error) {
    problems.push(`${what}: ${short(error.message ?? String(error))}`);
  }
}

export function short(text, most = 160) {
  text = String(text);
  return text.length <= most ? text : `${text.slice(0, most)}... (${text.length} characters)`;
}

export async function run(scenarios) {
  for (const name of process.env.MILLRACE_SCENARIOS.split(',')) {
    console.log(`${env.driver} ${name} run`);
    problems = [];
    let word;
    try {
      await scenarios[name]();
      word = problems.length ? 'FAIL' : 'ok';
    } catch (error) {
      word = error instanceof Skip ? `skip(${error.message})` : 'FAIL';
      if (word === 'FAIL') {
        const line = /suite\.js:(\d+)/.exec(error.stack ?? '');
        problems.push(`suite.js:${line ? line[1] : '?'}: ${short(error.message ?? String(error), 400)}`);
        console.error(error);
      }
    }
    console.log(`${env.driver} ${name} ${word}`);
    if (word === 'FAIL') {
      for (const problem of problems) console.log(`  ${problem.replaceAll('\n', ' | ')}`);
    }
  }
}
