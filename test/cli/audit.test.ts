import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { startProgram } from '../support/beside.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome } from '../support/run.ts';

let box: Sandbox;
/** Called for each request of the list. */
let onRequest: () => void = () => undefined;
beforeAll(async () => {
  const observe = (): void => onRequest();
  box = await startSandbox({ leads: 300, maxLimit: 20 }, { clock: new FakeClock(Date.now()), observe });
});
afterAll(() => box.close());

const audit = (home: string, words: readonly string[]) => {
  const env = { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: box.url, TMPDIR: join(home, 'tmp') };
  return startProgram(['audit', '--since', '1000d', ...words], home, env);
};

/** A home with a directory for temporary files, where node keeps its compile cache, too, and what an application has of the leads. */
function homeWithReceived(): { home: string; file: string; temporary: () => string[] } {
  const home = freshHome();
  mkdirSync(join(home, 'tmp'));
  const file = join(home, 'received.ndjson');
  const some = [...box.leads].filter((_, i) => i % 3 > 0);
  writeFileSync(file, some.map((lead) => `${Buffer.from(lead.text()).toString()}\n`).join(''));
  return {
    home,
    file,
    temporary: () => readdirSync(join(home, 'tmp')).filter((name) => name !== 'node-compile-cache'),
  };
}

it('leaves no temporary file behind', async () => {
  const { home, file, temporary } = homeWithReceived();
  const run = audit(home, ['--received', file]);
  expect((await run.done).exitCode, run.stderr()).toBe(7);
  expect(run.stdout()).toMatch(/^missing +100 +33\.33% /m);
  expect(temporary()).toEqual([]);
});

it.each([
  ['SIGINT', 130],
  ['SIGKILL', null],
] as const)(
  'claims nothing after %s in the middle of the walk, and leaves no file',
  async (signal, exitCode) => {
    const { home, file, temporary } = homeWithReceived();
    let requests = 0;
    const run = audit(home, ['--received', file, '--json']);
    onRequest = () => {
      requests += 1;
      if (requests === 5) run.child.kill(signal);
    };
    expect((await run.done).exitCode).toBe(exitCode);
    onRequest = () => undefined;
    expect(run.stdout()).toBe('');
    expect(temporary()).toEqual([]);
  },
);
