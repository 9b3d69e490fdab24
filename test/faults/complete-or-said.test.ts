import { expect, it } from 'vitest';
import { printFigure, sized } from '../support/faults.ts';
import { seeded } from '../support/faulty-service.ts';
import { type Change, startMovingService, styles } from '../support/moving-service.ts';
import { leads } from '../support/run.ts';

const count = 243;
/** Caps that no convention explains, and some that one does; 81 divides the list. */
const caps = [
  5, 12, 15, 20, 24, 30, 36, 40, 48, 50, 60, 64, 75, 80, 81, 99, 100, 120, 125, 128, 150, 243, 250,
];
const changes: readonly Change[] = ['nothing', 'vanish', 'move', 'arrive'];
const behinds = ['empty', 204, 404] as const;

it('an export that ends with 0 lacks no lead that was there all the time, and one that is complete does not fail', async () => {
  const seeds = sized(20);
  const lost: string[] = [];
  const failed: string[] = [];
  let [runs, said, moved, requests] = [0, 0, 0, 0];
  for (let seed = 1; seed <= seeds; seed += 1) {
    for (const [s, style] of styles.entries()) {
      for (const [c, change] of changes.entries()) {
        const random = seeded(seed * 1000 + s * 10 + c);
        const cap = caps[Math.floor(random() * caps.length)] ?? 20;
        const mostChanges = [1, 3, 1000][seed % 3] ?? 1;
        const service = await startMovingService({
          ...{ style, leads: count, cap, change, changes: mostChanges, random },
          behind: behinds[Math.floor(random() * 3)] ?? 'empty',
          honoursLimit: random() < 0.7,
        });
        const name = `${style}, cap ${cap}, ${change} up to ${mostChanges}, seed ${seed}`;
        const { exitCode, stdout, stderr } = await leads(['export', '-q'], {
          env: { LEADS_API_KEY: 'key', LEADS_BASE_URL: service.url },
        });
        await service.close();
        const ids = stdout
          .split('\n')
          .flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { id: string }).id]));
        const missing = service.stayed().filter((id) => !ids.includes(id));
        expect([name, new Set(ids).size]).toEqual([name, ids.length]);
        expect([name, exitCode === 0 || exitCode === 6]).toEqual([name, true]);
        runs += 1;
        requests += service.requests.length;
        if (service.changed() > 0) moved += 1;
        if (exitCode === 0 && missing.length > 0) lost.push(`${name}: ${missing.join(' ')}`);
        const mustEnd = change === 'nothing' || change === 'arrive' || mostChanges === 1;
        if (exitCode === 6) said += 1;
        if (exitCode === 6 && mustEnd) failed.push(`${name}: ${stderr}`);
      }
    }
  }
  printFigure(
    11,
    `${runs} exports (${styles.length} styles, ${moved} lists that changed, ${requests} requests): ` +
      `exit 0 with a lead missing ${lost.length}, complete and failed ${failed.length}, unproven ${said}`,
  );
  expect([lost, failed]).toEqual([[], []]);
});
