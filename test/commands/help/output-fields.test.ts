import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { until } from '../../support/until.ts';
import { freshHome, leads, type LiveRun, startLeads } from '../../support/run.ts';

type Json = Readonly<Record<string, unknown>>;
interface Printed {
  readonly type: string | null;
  readonly fields: readonly string[];
  readonly sometimes: readonly string[];
}

const home = freshHome();
const started: LiveRun[] = [];
let env: Record<string, string> = {};
let receiver = '';

/** Starts a command that goes on, and gives the first line that it prints. */
async function ready(argv: readonly string[]): Promise<Json> {
  const run = startLeads(argv, { home, env, clock: systemClock });
  started.push(run);
  await until(() => run.stdout.text().includes('\n'));
  return JSON.parse(run.stdout.text().split('\n')[0] ?? '') as Json;
}

beforeAll(async () => {
  const sandbox = await ready(['sandbox', '--json', '--port', '0', '--leads', '30']);
  env = { LEADS_BASE_URL: String(sandbox['url']), LEADS_API_KEY: String(sandbox['apiKey']) };
  await leads(['config', 'set', 'webhook.token', 's3cret'], { home });
  const listening = await ready(['listen', '--http', '--port', '0', '--json', '--backfill', '1h']);
  receiver = String(listening['url']);
  await leads(['send', receiver, '--sample', '2', '--seed', 'a', '--repeat', '2'], { home, env });
  await leads(['send', receiver, '--lead', '-'], { home, env, stdin: '{"id":"by-hand","category":"solar"}' });
  await leads(['send', receiver, '--token', 'wrong'], { home, env });
}, 60_000);

afterAll(async () => {
  for (const run of started) run.abort(new InterruptedError('SIGINT'));
  await Promise.all(started.map(({ done }) => done));
});

/** The objects in what a JSON form printed: a document, an array, or one a line. */
function objectsIn(stdout: string): Json[] {
  try {
    const value = JSON.parse(stdout) as Json | Json[];
    return Array.isArray(value) ? value : [value];
  } catch {
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
  }
}

async function checkPrinted(command: string, objects: readonly Json[]): Promise<void> {
  const { stdout } = await leads(['help', '--json', ...command.split(' ')]);
  const { output } = JSON.parse(stdout) as { output: Printed[] };
  expect(objects.length).toBeGreaterThan(0);
  for (const object of objects) {
    const names = Object.keys(object);
    const fits = output.filter(({ type, fields, sometimes }) => {
      const declared = [...fields, ...sometimes];
      // A lead has the fields that it came with.
      const isLead = fields.length === 1 && fields[0] === 'id';
      return (
        (type === null || object['type'] === type) &&
        fields.every((field) => names.includes(field)) &&
        (isLead || names.every((name) => declared.includes(name)))
      );
    });
    expect(fits.length, `${command} printed ${names.join(', ')}`).toBeGreaterThan(0);
  }
}

const capture = join(mkdtempSync(join(tmpdir(), 'leads-test-')), 'capture.http');
writeFileSync(capture, 'POST / HTTP/1.1\nX-Webhook-Token: wrong\n\n{"id": "lead_1"}');

it.each([
  { command: 'list', flags: [] },
  { command: 'export', flags: [] },
  { command: 'show', flags: ['by-hand'] },
  { command: 'config list', flags: [] },
  { command: 'config profiles', flags: [] },
  { command: 'doctor', flags: ['--learn', '--dry-run'] },
  { command: 'inbox list', flags: [] },
  { command: 'inbox show', flags: ['by-hand'] },
  { command: 'inbox export', flags: [] },
  { command: 'inbox retry', flags: ['by-hand', '--to', 'RECEIVER'] },
  { command: 'send', flags: ['RECEIVER', '--token', 'wrong', '--retry', '1ms'] },
  { command: 'send', flags: ['http://127.0.0.1:1/', '--token', 'wrong'] },
  { command: 'check', flags: ['RECEIVER', '--only', 'credential'] },
  { command: 'check', flags: ['--list'] },
  { command: 'verify', flags: [capture] },
  { command: 'audit', flags: ['--settle', '0s', '--since', '30d'] },
  { command: 'stats', flags: ['--since', '7d', '--compare', 'previous', '--by', 'category,metadata.source'] },
  { command: 'stats', flags: ['--inbox', '--since', '7d', '--expect', 'total>0'] },
])('$command $flags prints the fields that help --json names', async ({ command, flags }) => {
  const words = flags.map((word) => (word === 'RECEIVER' ? receiver : word));
  const { stdout } = await leads([...command.split(' '), ...words, '--json'], { home, env });
  await checkPrinted(command, objectsIn(stdout));
});

it('names the fields of listen and sandbox', async () => {
  const [sandbox, listen] = started;
  for (const run of started) run.abort(new InterruptedError('SIGINT'));
  await checkPrinted('sandbox', objectsIn((await sandbox?.done)?.stdout ?? ''));
  const objects = objectsIn((await listen?.done)?.stdout ?? '');
  await checkPrinted('listen', objects);
  expect(new Set(objects.map(({ type }) => type))).toEqual(
    new Set(['listening', 'delivery', 'backfill', 'summary']),
  );
});
