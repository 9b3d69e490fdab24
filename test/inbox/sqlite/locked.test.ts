import { spawn } from 'node:child_process';
import { once } from 'node:events';
import Libsql from 'libsql';
import { afterEach, expect, it } from 'vitest';
import { clock, open, takeOne } from '../stores.ts';
import { arrivalOf, freshFile } from '../support.ts';
import { until } from '../../support/until.ts';

const clean: (() => void)[] = [];
afterEach(() => {
  for (const step of clean.splice(0)) step();
});

/** Another process that writes, until the result is called. */
function lockedBySomebody(path: string): () => void {
  const other = new Libsql(path);
  other.exec('BEGIN IMMEDIATE');
  let isHeld = true;
  const release = (): void => {
    if (!isHeld) return;
    isHeld = false;
    other.exec('ROLLBACK');
    other.close();
  };
  clean.push(release);
  return release;
}

it('waits for another process that writes, without keeping the event loop waiting', async () => {
  const path = freshFile('inbox.db');
  const inbox = await open(path);
  const release = lockedBySomebody(path);
  let longestMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  }, 5);
  clean.push(() => clearInterval(timer));
  const taken = takeOne(inbox, arrivalOf({ id: 'a' }));
  const sleeps = clock.sleeps.length;
  await until(() => {
    clock.advance(20);
    return clock.sleeps.length > sleeps + 3;
  }, 'some attempts');
  expect(longestMs).toBeLessThan(1000);
  release();
  let isTaken = false;
  void taken.then(() => (isTaken = true));
  await until(() => {
    clock.advance(20);
    return isTaken;
  }, 'the delivery to be taken');
  expect(await taken).toMatchObject({ kind: 'accepted' });
});

it('gives up each delivery after its own five seconds, and takes later ones', async () => {
  const path = freshFile('inbox.db');
  const inbox = await open(path);
  const release = lockedBySomebody(path);
  const started = clock.steady();
  const gaveUpAfter = async (id: string): Promise<number> => {
    await expect(takeOne(inbox, arrivalOf({ id }))).rejects.toThrow('another process holds it locked');
    return clock.steady() - started;
  };
  const advance = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 20) {
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(20);
    }
  };
  const first = gaveUpAfter('a');
  await advance(3000);
  const second = gaveUpAfter('b');
  await advance(6000);
  expect(await first).toBeLessThan(5200);
  expect(await second).toBeGreaterThan(7900);
  expect(await second).toBeLessThan(8200);
  release();
  expect(await takeOne(inbox, arrivalOf({ id: 'c' }))).toMatchObject({ kind: 'accepted' });
});

it('opens, with targets that are new to the file, when the other process has written', async () => {
  const path = freshFile('inbox.db');
  await (await open(path)).close();
  // In another process, since opening waits without an event loop.
  const holder = spawn(process.execPath, ['-e', holdLock, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  const inbox = await open(path, { targets: ['exec true'] });
  expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
});

/** Holds a transaction for a moment; says so when it does. */
const holdLock = `
  const Libsql = require('libsql');
  const database = new Libsql(process.argv[1]);
  database.exec('BEGIN IMMEDIATE');
  process.stdout.write('held');
  setTimeout(() => database.exec('COMMIT'), 200);
`;
