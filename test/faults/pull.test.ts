import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { printFigure, sized } from '../support/faults.ts';
import { type FaultyService, type Style, faultyService, seeded } from '../support/faulty-service.ts';
import { freshHome, leads } from '../support/run.ts';

const styles: readonly Style[] = ['cursor', 'link', 'page', 'offset'];
const faults = { status500: 0.05, status429: 0.05, reset: 0.02, truncate: 0.02 };
const key = { LEADS_API_KEY: 'sandbox-key-0123456789' };

/** Exports until it succeeds, as a person would who is told when to come back; gives the number of runs. */
async function exportAll(
  service: FaultyService,
  file: string,
  clock: FakeClock,
  seed: number,
): Promise<number> {
  const home = freshHome();
  for (let run = 1; run <= 50; run += 1) {
    const { exitCode, stderr } = await leads(['export', '-o', file, '--resume', '--page-size', '100'], {
      env: { ...key, LEADS_BASE_URL: service.url },
      home,
      clock,
      random: seeded(seed + run),
    });
    if (exitCode === 0) return run;
    expect(stderr).toMatch(/^error: /m);
    expect(exitCode).toBe(5);
  }
  throw new Error('it never came to an end');
}

it('promise 9: a pull loses nothing and repeats nothing', async () => {
  const seeds = sized(20);
  let [lost, repeated, runs] = [0, 0, 0];
  const injected: Record<string, number> = {};
  for (let seed = 1; seed <= seeds; seed += 1) {
    for (const style of styles) {
      if (style !== styles[seed % styles.length] && style !== 'cursor') continue;
      const clock = new FakeClock(undefined, { hasty: true });
      const service = await faultyService({
        ...{ leads: 10_000, pageSize: 100, style, seed, faults, repeats: 0.01 },
        now: () => clock.now(),
      });
      const file = join(freshHome(), 'out.ndjson');
      runs += await exportAll(service, file, clock, seed);
      await service.close();
      const ids = readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id);
      const found = new Set(ids);
      lost += service.ids.filter((id) => !found.has(id)).length;
      repeated += ids.length - found.size;
      for (const [name, count] of Object.entries(service.injected))
        injected[name] = (injected[name] ?? 0) + count;
    }
  }
  const what = Object.entries(injected).map(([name, count]) => `${name} ${count}`);
  printFigure(
    9,
    `10,000 leads × ${seeds} seeds, ${runs} runs (${what.join(', ')}): lost ${lost}, repeated ${repeated}`,
  );
  expect({ lost, repeated }).toEqual({ lost: 0, repeated: 0 });
  for (const name of Object.keys(faults)) expect(injected[name]).toBeGreaterThan(0);
});
