import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome, leads, type Run } from '../support/run.ts';
import { type CaseService, startCaseService } from './cases/case-service.ts';
import { type Outcome, type PullCase, pullCases } from './cases/pull-cases.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

interface Place {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: FakeClock;
}

async function placeFor({ url, authority }: CaseService, clock: FakeClock): Promise<Place> {
  const home = freshHome();
  const env = { LEADS_API_KEY: 'a-key-of-a-test', LEADS_BASE_URL: url };
  if (authority === undefined) return { home, env, clock };
  await ensureAuthority(join(home, 'data'), { now: Date.now });
  const file = join(home, 'extra.pem');
  writeFileSync(file, authority);
  return { home, env: { ...env, NODE_EXTRA_CA_CERTS: file }, clock };
}

const run = ({ home, env, clock }: Place, argv: readonly string[]): Promise<Run> =>
  leads(argv, { home, env, clock });

async function configure(place: Place, config: PullCase['config'] = {}): Promise<void> {
  for (const [key, value] of Object.entries(config))
    expect(await run(place, ['config', 'set', key, value])).toMatchObject({ exitCode: 0 });
}

const lineCount = (text: string): number => text.split('\n').length - 1;

/** What is wrong with an outcome; nothing where it is right. */
function faultsOf({ exitCode, stdout, stderr }: Run, expected: Outcome): string[] {
  const { exit, lines, says = [], saysNot = [] } = expected;
  const faults = [
    [exit.includes(exitCode), `exit ${exitCode}`],
    [lines === undefined || lineCount(stdout) === lines, `${lineCount(stdout)} lines`],
    ...says.map((text) => [stderr.includes(text), `does not say ${text}`] as const),
    ...saysNot.map((text) => [!stderr.includes(text), `says ${text}`] as const),
  ] as const;
  return faults.flatMap(([isRight, fault]) => (isRight ? [] : [`${fault}: ${stderr}`]));
}

/** A failure leaves the bookmark as it was, so that the next healthy run has all that is new. */
async function expectHealing(place: Place, service: CaseService, healthyLines: number): Promise<void> {
  const [file, bookmark] = [join(place.home, 'out.ndjson'), join(place.home, 'bookmark')];
  const argv = ['export', '-o', file, '--bookmark', bookmark];
  expect((await run(place, argv)).exitCode).not.toBe(0);
  expect(existsSync(bookmark)).toBe(false);
  service.heal();
  const healthy = await run(place, argv);
  expect([healthy.exitCode, lineCount(readFileSync(file, 'utf8'))], healthy.stderr).toEqual([
    0,
    healthyLines,
  ]);
}

async function tryCase(tried: PullCase): Promise<void> {
  const { service: description, expect: expected, or, then } = tried;
  const clock = new FakeClock(Date.now(), { hasty: true });
  const service = await startCaseService(description, clock);
  open.push(() => service.close());
  const place = await placeFor(service, clock);
  await configure(place, tried.config);
  for (const argv of tried.commands ?? [['export']]) {
    const end = await run(place, argv);
    const faults = faultsOf(end, expected);
    if (faults.length > 0) expect(or === undefined ? faults : faultsOf(end, or)).toEqual([]);
  }
  if (tried.requestsAtMost !== undefined)
    expect(service.asked.length).toBeLessThanOrEqual(tried.requestsAtMost);
  const { neverAsked } = tried;
  if (neverAsked !== undefined) expect(service.asked.filter((path) => path.includes(neverAsked))).toEqual([]);
  if (tried.neverEarly === true) expect(service.early()).toBe(0);
  if (then !== undefined) {
    await configure(place, then.config);
    expect(faultsOf(await run(place, ['export', ...(then.flags ?? [])]), then.expect)).toEqual([]);
  }
  if (tried.healthyLines !== undefined) await expectHealing(place, service, tried.healthyLines);
}

it.each(pullCases)('$name', tryCase);
