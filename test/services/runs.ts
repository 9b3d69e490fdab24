import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { smallestCap } from '../../src/service/pagers/pager.ts';
import { freshHome, leads } from '../support/run.ts';
import { envOf, exported, type Judged, judge, learnt, usualCaps } from './judge.ts';
import { leadIdsIn, type ListService, serve } from './list-service.ts';
import type { Row } from './row.ts';

/** One export of a service, and what it came to. */
interface JudgedRun extends Judged {
  /** How many leads there were; behind how many were there when it was learnt. */
  readonly at: string;
}

/** A few counts on both sides of what an answer holds. */
function countsOf({ cap = 20, usual = cap, isVariant }: Row): readonly number[] {
  const few = isVariant === true ? [] : [1, 4, 5, usual, usual + 1, cap - 1];
  return [...new Set([...few, cap, cap + 1, 237])];
}

/** Whether nothing tells a whole answer of so many leads from the first part of a list: no service gives fewer than five at once. */
function isAlarmFair({ outlook, quietAt = [] }: Row, count: number): boolean {
  if (outlook === 'caution') return count >= smallestCap || quietAt.includes(count);
  return quietAt.includes(count) && usualCaps.includes(count);
}

/** What is wrong; of a row that is not yet right, that nothing is. */
export function wrongOf(runs: readonly JudgedRun[], notYet: string | undefined): string[] {
  const wrong = runs.filter(({ verdict }) => verdict !== 'fine' && verdict !== 'invisible');
  if (notYet === undefined) return wrong.map(({ at, verdict, seen }) => `${at}: ${verdict}: ${seen}`);
  return wrong.length > 0 ? [] : ['it is right now, and no longer a row of notYet'];
}

/** Exports without a profile. */
export async function unaidedRuns(row: Row): Promise<JudgedRun[]> {
  const service = await serve(row, 1);
  const runs: JudgedRun[] = [];
  const home = freshHome();
  await set(row.settings ?? {}, service, home);
  for (const count of countsOf(row)) {
    service.count = count;
    const run = await exported({ service, home });
    runs.push({ at: String(count), ...judge(row, service, run, isAlarmFair(row, count)) });
  }
  await service.close();
  return runs;
}

async function set(
  settings: NonNullable<Row['settings']>,
  service: ListService,
  home: string,
): Promise<void> {
  for (const [key, value] of Object.entries(settings))
    await leads(['config', 'set', key, value], { env: envOf(service), home });
}

/** Exports of many leads with what was learnt at a few, and of fewer with what was learnt at many. */
export async function learntRuns(row: Row, few: readonly number[]): Promise<JudgedRun[]> {
  const service = await serve(row, 1);
  const runs: JudgedRun[] = [];
  for (const [before, afterwards] of [
    ...few.map((before) => [before, [237]] as const),
    [237, [3, 20, 50, 100]] as const,
  ]) {
    const home = freshHome();
    service.count = before;
    await learnt({ service, home });
    for (const count of afterwards) {
      service.count = count;
      const run = await exported({ service, home });
      runs.push({ at: `${before}, ${count}`, ...judge(row, service, run, isAlarmFair(row, count)) });
    }
  }
  await service.close();
  return runs;
}

interface Nights {
  /** Those that ended with another code than 0. */
  readonly red: readonly string[];
  readonly lost: number;
  readonly repeated: number;
}

interface Course {
  readonly nights: number;
  /** Leads there are in the first one. */
  readonly first: number;
  readonly arrivals: (night: number) => number;
}

/** Runs `export --bookmark` night by night. Behind the first red one, a person says that the list has one page. */
export async function nightsOf(row: Row, { nights, first, arrivals }: Course): Promise<Nights> {
  const service = await serve(row, first);
  const home = freshHome();
  const file = join(home, 'leads.ndjson');
  const red: string[] = [];
  for (let night = 1; night <= nights; night += 1) {
    if (night > 1) service.count += arrivals(night);
    const words = ['--bookmark', join(home, 'bookmark'), '-o', file];
    const { exitCode, stderr } = await exported({ service, home }, ...words);
    if (exitCode === 0) continue;
    red.push(`night ${night}, ${service.count} leads: ${stderr}`);
    if (row.cap === undefined) await set({ 'api.pagination': 'none' }, service, home);
  }
  await service.close();
  // Where every night is red, nothing has its name yet.
  const written = (existsSync(file) ? readFileSync(file, 'utf8') : '')
    .split('\n')
    .flatMap((line) => leadIdsIn(line).slice(0, 1));
  const got = new Set(written);
  const lost = service.ids.filter((id) => !got.has(id)).length;
  return { red, lost, repeated: written.length - got.size };
}
