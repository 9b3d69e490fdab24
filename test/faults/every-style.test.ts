import { expect, it } from 'vitest';
import { apiFaults, parseFaults } from '../../src/sandbox/faults.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../support/clock.ts';
import { leads } from '../support/run.ts';
import { full } from '../support/faults.ts';

const seeds = full ? 20 : 2;
const count = 300;

/** Every one of them is found out by itself: nothing is configured but the base URL. */
const styles: readonly SandboxOptions[] = [
  {},
  { order: 'oldest' },
  { next: 'url' },
  { next: 'path' },
  { next: 'id' },
  { nextField: 'meta.next_cursor' },
  { nextField: 'paging.cursors.after', envelope: 'leads', params: { cursor: 'after' } },
  { pagination: 'page' },
  { pagination: 'page', totals: false },
  { pagination: 'page', next: 'number' },
  { pagination: 'page', order: 'oldest' },
  { pagination: 'offset' },
  { pagination: 'offset', totals: false },
  { pagination: 'offset', next: 'url', envelope: 'results' },
  { pagination: 'link' },
  { pagination: 'link', envelope: 'none' },
  { pagination: 'none' },
  { pagination: 'none', envelope: 'none' },
];

it('an export finds out every style of pages, and gives every lead once under every fault', async () => {
  const text = 'status500=5%,status429=5%,reset=2%,truncate=4%,duplicate=5%,slow=1%,shift=2%';
  const injected = new Map<string, number>();
  for (let seed = 1; seed <= seeds; seed += 1) {
    for (const style of styles) {
      const sandbox = await startSandbox(
        { leads: count, seed, maxLimit: 20, faults: parseFaults(text, apiFaults), ...style },
        { clock: new FakeClock(undefined, { hasty: true }) },
      );
      const began = [...sandbox.leads].map((lead) => lead.id);
      const { exitCode, stdout, stderr } = await leads(['export', '-q'], {
        env: { LEADS_API_KEY: sandbox.apiKey, LEADS_BASE_URL: sandbox.url },
      });
      for (const [name, times] of Object.entries(sandbox.state.apiInjector.counts)) {
        injected.set(name, (injected.get(name) ?? 0) + times);
      }
      await sandbox.close();
      expect([style, seed, exitCode, stderr]).toEqual([style, seed, 0, '']);
      const ids = stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id);
      const missing = began.filter((id) => !ids.includes(id));
      expect([style, seed, missing, ids.length]).toEqual([style, seed, [], new Set(ids).size]);
    }
  }
  const faults = [...injected].map(([name, times]) => `${name} ${times}`).join(', ');
  console.log(
    `every style: ${styles.length} styles of pages x ${seeds} seeds, ${count} leads each: lost 0, repeated 0 (${faults})`,
  );
});
