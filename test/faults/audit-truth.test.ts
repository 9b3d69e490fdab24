import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import {
  arrivalOf,
  drawFates,
  homeWithInbox,
  listedRecords,
  openReceiver,
  type Scenario,
  truthOf,
} from '../support/both-sides.ts';
import { FakeClock } from '../support/clock.ts';
import { full, printFigure } from '../support/faults.ts';
import { leads, type Run } from '../support/run.ts';
import { drawsFrom } from '../../src/sandbox/data/seeded-random.ts';
import { scripted, sendJson } from '../support/service.ts';

const seeds = full ? 20 : 2;
const count = full ? 5000 : 800;
const now = Date.UTC(2026, 5, 1, 12);
const quarterHour = 900_000;
const settleMs = 12 * 3_600_000;

const scenarioOf = (seed: number, clockAheadMs = 0): Scenario => ({
  seed,
  leads: count,
  now,
  behindHorizon: Math.floor(count / 10),
  clockAheadMs,
});
/** Some of the leads are older. */
const since = now - Math.floor(count * 0.95) * quarterHour;

interface Finding {
  readonly class: string;
  readonly fields: readonly string[] | null;
}

/** What was found, by id. */
const foundIn = ({ stdout }: Pick<Run, 'stdout'>): Map<string, Finding> =>
  new Map(
    stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { type: string; id: string; class: string; fields: string[] | null })
      .filter(({ type }) => type === 'finding')
      .map(({ id, class: kind, fields }) => [id, { class: kind, fields }]),
  );

const audit = (
  home: string,
  { url }: Pick<Sandbox, 'url'>,
  { seed, clockAheadMs = 0 }: Pick<Scenario, 'seed' | 'clockAheadMs'>,
  from = new Date(since).toISOString(),
): Promise<Run> =>
  leads(['audit', '--json', '--settle', '12h', '--since', from], {
    home,
    env: { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: url },
    clock: new FakeClock(now - clockAheadMs, { hasty: true }),
    random: () => (seed % 7) / 7,
  });

const summaryOf = ({ stdout }: Pick<Run, 'stdout'>): Readonly<Record<string, unknown>> =>
  JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>;

const faults = {
  status500: { chance: 0.05 },
  status429: { chance: 0.05 },
  reset: { chance: 0.02 },
  truncate: { chance: 0.02 },
};

/** In turn, from seed to seed: ms. */
const differences = [-3_600_000, 240_000, -90_000, 7_200_000];

it.each<[string, SandboxOptions, readonly number[]]>([
  ['a service that works', {}, [0]],
  ['a service that fails now and then', { faults }, [0]],
  ['clocks that differ', {}, differences],
])('promise 14: finds what happened to each lead, and nothing else: %s', async (name, options, clocks) => {
  let findings = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const scenario = scenarioOf(seed, clocks[seed % clocks.length]);
    const fates = drawFates(scenario);
    const home = await homeWithInbox(fates, scenario);
    const box = await startSandbox(
      { seed, records: listedRecords(fates), maxLimit: 100, ...options },
      { clock: new FakeClock(now) },
    );
    try {
      const run = await audit(home, box, scenario);
      const truth = truthOf(fates, { now, since, settleMs });
      expect(run.exitCode, run.stderr).toBe(7);
      expect(foundIn(run)).toEqual(truth);
      expect(summaryOf(run)).toMatchObject({ byClass: { test: 5 } });
      findings += truth.size;
    } finally {
      await box.close();
    }
  }
  printFigure(14, `${seeds} × ${count} leads, ${name}: ${findings} findings, all of them true`);
});

it.each(['cursor', 'page', 'offset'] as const)(
  'promise 14: finds the same while leads keep arriving: %s',
  async (pagination) => {
    let arrived = 0;
    for (let seed = 1; seed <= Math.ceil(seeds / 4); seed += 1) {
      const scenario = scenarioOf(seed);
      const fates = drawFates(scenario);
      const home = await homeWithInbox(fates, scenario);
      const receiver = await openReceiver(home, now, []);
      const deliveries: Promise<unknown>[] = [];
      const added = new Set<string>();
      const service: { box?: Sandbox } = {};
      const observe = (): void => {
        for (let i = 0; service.box !== undefined && i < 3; i += 1) {
          const lead = service.box.addLead();
          added.add(lead.id);
          // Some are delivered at once, some later, some never.
          const deliver = (): Promise<unknown> =>
            receiver.take([arrivalOf(lead.id, Buffer.from(lead.text()), now + added.size)]);
          if (i === 0) deliveries.push(deliver());
          if (i === 1) deliveries.push(pause(20).then(deliver));
        }
      };
      const box = await startSandbox(
        { seed: seed + 1000, records: listedRecords(fates), maxLimit: 50, pagination, faults },
        { clock: new FakeClock(now), observe },
      );
      service.box = box;
      try {
        const run = await audit(home, box, scenario);
        await Promise.all(deliveries);
        expect(run.exitCode, run.stderr).toBe(7);
        const found = foundIn(run);
        for (const id of added) {
          expect(found.get(id)?.class ?? 'unsettled').toBe('unsettled');
          found.delete(id);
        }
        expect(found).toEqual(truthOf(fates, { now, since, settleMs }));
        arrived += added.size;
      } finally {
        await box.close();
        await receiver.close();
      }
    }
    printFigure(14, `${pagination}: ${arrived} leads arrived during the walks, and changed nothing`);
  },
);

it('promise 14: never exit 0 while a lead is missing, however little the service shows of its list', async () => {
  const ends = new Map<number, number>();
  for (let seed = 1; seed <= seeds; seed += 1) {
    const scenario = scenarioOf(seed, differences[seed % differences.length]);
    const fates = drawFates(scenario);
    const home = await homeWithInbox(fates, scenario);
    const newestFirst = listedRecords(fates).reverse();
    const draw = drawsFrom(seed);
    const sizes = [3, 25, 100, ...Array.from({ length: 5 }, () => 5 + Math.floor(draw() * 300))];
    for (const size of sizes) {
      const service = await scripted((_, response) => {
        response.setHeader('date', new Date(now).toUTCString());
        sendJson(response, `{"data":[${newestFirst.slice(0, size).map(String).join(',')}]}`);
      });
      try {
        const whole = await audit(home, service, scenario);
        const fits = /--since (\S+Z)/.exec(whole.stderr)?.[1];
        const runs =
          fits === undefined ? [] : [{ from: fits, run: await audit(home, service, scenario, fits) }];
        for (const { from, run } of [{ from: new Date(since).toISOString(), run: whole }, ...runs]) {
          const truth = truthOf(fates, { now, since: Date.parse(from), settleMs });
          const kinds = [...truth.values()].map(({ class: kind }) => kind);
          if (kinds.some((kind) => kind === 'missing' || kind === 'refused'))
            expect(run.exitCode).not.toBe(0);
          // What is claimed of the part that came is true.
          for (const [id, { class: kind }] of foundIn(run)) {
            if (kind === 'missing' || kind === 'extra')
              expect([id, truth.get(id)?.class]).toEqual([id, kind]);
          }
          ends.set(run.exitCode, (ends.get(run.exitCode) ?? 0) + 1);
        }
        expect(whole.exitCode, `${size} leads`).toBe(6);
      } finally {
        await service.close();
      }
    }
  }
  printFigure(
    14,
    `audits of one page: ${[...ends].map(([code, n]) => `exit ${code} ${n} times`).join(', ')}`,
  );
});
