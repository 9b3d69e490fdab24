import { request } from 'undici';
import { expect, it } from 'vitest';
import type { RecordedAttempt } from '../../src/sandbox/deliveries.ts';
import { freshHome } from '../support/run.ts';
import { startProgram } from '../support/beside.ts';

const full = process.env['LEADS_FAULTS'] === 'full';
const leads = full ? 1000 : 200;
/** A minute's worth at ten leads a second, or a tenth of it twice as fast. */
const growth = full ? 600 : 60;

const argv = (hook: string): string[] => [
  'sandbox',
  ...['--webhook', hook, '--token', 't', '--port', '0', '--json'],
  ...['--leads', String(leads), '--every', full ? '100ms' : '50ms', '--retry', '1s,5s,30s'],
  ...['--faults', 'status500=5%,status429=5%,reset=2%,truncate=2%,duplicate=1%'],
  ...['--delivery-faults', 'duplicate=5%,reorder=5%,badSignature=1%'],
];

interface Truth<T> {
  readonly entries: readonly T[];
  readonly total: number;
}

async function truth<T>(url: string, what: string): Promise<Truth<T>> {
  const entries: T[] = [];
  for (let after: number | null = 0; after !== null;) {
    const answer = await request(`${url}/sandbox/${what}?after=${after}`);
    const part = (await answer.body.json()) as Record<string, unknown>;
    entries.push(...(part[what] as T[]));
    after = part['next'] as number | null;
  }
  return { entries, total: entries.length };
}

/** Lines of NDJSON by id; an id that is there twice fails. */
function byId(ndjson: string): Map<string, string> {
  const lines = ndjson.split('\n').filter((line) => line !== '');
  const found = new Map(lines.map((line) => [(JSON.parse(line) as { id: string }).id, line]));
  expect(found.size).toBe(lines.length);
  return found;
}

it('one truth: what is acknowledged is in the inbox once, nothing forged is, and an export gives every lead once', async () => {
  const home = freshHome();
  const listener = startProgram(['listen', '--token', 't', '--port', '0', '--format', 'events'], home);
  const { url: receiver } = JSON.parse(await listener.firstLine()) as { url: string };
  const sandbox = startProgram(argv(`${receiver}/hook`), home);
  const { url, apiKey } = JSON.parse(await sandbox.firstLine()) as { url: string; apiKey: string };
  try {
    await expect
      .poll(async () => (await truth(url, 'leads')).total, { timeout: 180_000, interval: 500 })
      .toBeGreaterThanOrEqual(leads + growth);

    const there = new Set((await truth<{ id: string }>(url, 'leads')).entries.map((lead) => lead.id));
    const exporting = startProgram(['export', '--page-size', '10'], home, {
      LEADS_API_KEY: apiKey,
      LEADS_BASE_URL: url,
    });
    expect((await exporting.done).exitCode, exporting.stderr()).toBe(0);
    const exported = byId(exporting.stdout());

    const attempts = (await truth<RecordedAttempt>(url, 'deliveries')).entries;
    const reading = startProgram(['inbox', 'export'], home);
    expect((await reading.done).exitCode).toBe(0);
    const received = byId(reading.stdout());

    const records = new Map<string, string>();
    const listed = await request(`${url}/sandbox/leads?limit=100000`);
    for (const [, id = '', lead = ''] of (await listed.body.text()).matchAll(
      /\{"id":"(\w+)","seq":\d+,.*?"lead":(\{.*?"createdAt":"[^"]+"\})\}/g,
    )) {
      records.set(id, lead);
    }

    const acknowledged = new Set(
      attempts.filter(({ outcome }) => outcome === 'acknowledged').map(({ leadId }) => leadId),
    );
    const forged = attempts.filter((attempt) => attempt.forged);
    expect([...acknowledged].filter((id) => !received.has(id))).toEqual([]);
    expect(forged.filter(({ outcome }) => outcome === 'acknowledged')).toEqual([]);
    expect([...received].filter(([id, line]) => records.get(id) !== line)).toEqual([]);
    expect([...there].filter((id) => !exported.has(id))).toEqual([]);
    expect(
      [...exported].filter(([id, line]) => records.get(id) !== line.replace(/,"status":"\w+"\}$/, '}')),
    ).toEqual([]);
    expect(forged.length).toBeGreaterThan(0);
    console.log(
      `one truth: ${acknowledged.size} acknowledged in ${attempts.length} attempts, missing from the inbox 0, ` +
        `forged ${forged.length}, accepted of these 0; exported ${exported.size} under faults, lost 0, repeated 0`,
    );
  } finally {
    sandbox.child.kill('SIGINT');
    listener.child.kill('SIGINT');
    expect((await sandbox.done).exitCode).toBe(0);
    expect((await listener.done).exitCode).toBe(0);
  }
});
