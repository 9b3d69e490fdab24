import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { full, printFigure } from '../support/faults.ts';
import { seeded } from '../support/faulty-service.ts';
import { type Change, startMovingService, type Style, styles } from '../support/moving-service.ts';
import { freshHome, leads } from '../support/run.ts';

const hour = 3_600_000;
const nights = full ? 20 : 3;
const seeds = full ? 3 : 1;
/** What happens to the list while it is read; between two nights everything does. */
const changes: readonly Change[] = ['nothing', 'arrive', 'vanish', 'move'];

interface Outcome {
  readonly lost: readonly string[];
  readonly repeated: number;
  readonly leads: number;
  readonly unproven: number;
  readonly excess: number;
}

/** One list over all nights; every lead comes at most 20 hours after it was created, which is within the overlap. */
async function exportEveryNight(style: Style, change: Change, seed: number): Promise<Outcome> {
  const random = seeded(seed);
  const clock = new FakeClock(undefined, { hasty: true });
  const createdAt = new Map<string, number>();
  const createdOf = (id: string): number => {
    const created = createdAt.get(id) ?? clock.now() - (id.startsWith('lead') ? 30 * 24 * hour : 0);
    createdAt.set(id, created);
    return created;
  };
  const edits = new Map<string, number>();
  const service = await startMovingService({
    ...{ style, change, random, leads: 40, changes: 2, cap: 10 + Math.floor(random() * 30) },
    record: (id) => ({ id, createdAt: new Date(createdOf(id)).toISOString(), edits: edits.get(id) ?? 0 }),
  });
  const home = freshHome();
  const file = join(home, 'all.ndjson');
  const argv = ['export', '-q', '-o', file, '--bookmark', join(home, 'b')];
  const env = { LEADS_API_KEY: 'key', LEADS_BASE_URL: service.url };
  const owed = new Set<string>();
  let [unproven, excess] = [0, 0];
  for (let night = 0; night < nights; night += 1) {
    for (let n = 5 + Math.floor(random() * 20); n > 0; n -= 1) {
      const id = `night_${night}_${n}`;
      createdAt.set(id, clock.now() - Math.floor(random() * 20 * hour));
      service.arrive(id);
      edits.set(id, 0);
      if (random() < 0.2) service.vanish();
      if (random() < 0.3) service.move();
    }
    for (const id of edits.keys()) if (random() < 0.1) edits.set(id, (edits.get(id) ?? 0) + 1);
    service.begin();
    const { exitCode, stderr } = await leads(argv, { env, home, clock, random });
    expect([0, 6], stderr).toContain(exitCode);
    if (exitCode === 0) for (const id of service.stayed()) owed.add(id);
    else unproven += 1;
    excess += service.excess();
    clock.advance(24 * hour - (clock.now() % (24 * hour)));
  }
  await service.close();
  const ids = [...readFileSync(file, 'utf8').matchAll(/^\{"id":"(\w+)"/gm)].map(([, id = '']) => id);
  const written = new Set(ids);
  const lost = [...owed].filter((id) => !written.has(id));
  return { lost, repeated: ids.length - written.size, leads: ids.length, unproven, excess };
}

it('promise 9: an export with a bookmark has every lead once, night after night, in every style of pages', async () => {
  const failures: string[] = [];
  let [runs, written, unproven] = [0, 0, 0];
  for (let seed = 1; seed <= seeds; seed += 1) {
    for (const [s, style] of styles.entries()) {
      const change = changes[(s + seed) % changes.length] ?? 'nothing';
      const found = await exportEveryNight(style, change, seed * 100 + s);
      runs += nights;
      written += found.leads;
      unproven += found.unproven;
      const { lost, repeated, excess } = found;
      const isWrong = lost.length + repeated + excess > 0 || (change === 'nothing' && found.unproven > 0);
      if (isWrong)
        failures.push(
          `${style}, ${change}, seed ${seed}: ${lost.length} lost (${lost[0] ?? ''}), ${JSON.stringify({ ...found, lost: 0 })}`,
        );
    }
  }
  printFigure(
    9,
    `${runs} nights of export --bookmark (${styles.length} styles x ${seeds} x ${nights}), ${written} leads: ` +
      `lost or repeated in ${failures.length} lists, unproven nights ${unproven}`,
  );
  expect(failures).toEqual([]);
});
