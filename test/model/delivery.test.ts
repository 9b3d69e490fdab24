import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { full } from '../support/faults.ts';

/** One exhaustive search: every state that the model reaches, and with `isLiveness` every way that never ends. */
interface Search {
  readonly senders: 1 | 2;
  readonly faults: number;
  readonly isLiveness?: true;
  readonly mutant?: string;
}

interface Found {
  readonly errors: number;
  readonly states: number;
  readonly depth: number;
  readonly seconds: number;
  /** The assertion that failed, with its macros expanded, or `acceptance cycle`. */
  readonly broken: string;
  /** Statements that were in no step: process, line and number. */
  readonly unreached: readonly string[];
}

const model = new URL('delivery.pml', import.meta.url).pathname;
const lines = readFileSync(model, 'utf8').split('\n');
const missing = ['spin', 'gcc'].filter((program) => spawnSync(program, ['--version']).error !== undefined);
if (missing.length > 0 && process.env['CI'] !== undefined)
  throw new Error(`not installed: ${missing.join()}`);

/**
 * The protocol as it is, with all that may go wrong together. The model does not follow the source by itself: to search every
 * way that never ends takes minutes, and is for a change of the model and for a release.
 */
const searches: Record<string, Search> = {
  'one sender, three faults': { senders: 1, faults: 3 },
  'two senders, two faults': { senders: 2, faults: 2 },
  'every way ends: one sender, one fault': { senders: 1, faults: 1, isLiveness: true },
  ...(full && {
    'every way ends: one sender, two faults': { senders: 1, faults: 2, isLiveness: true },
    'every way ends: two senders, one fault': { senders: 2, faults: 1, isLiveness: true },
  }),
};

/** What the monitor asserts: what was acknowledged is stored, and a target has what is done. */
const kept = /violated 0 /;
/** A lead is accepted once. */
const once = /violated .*accepts<=1/;
/** Never two attempts at one target. */
const apart = /violated .*isLate/;
/** Nothing is tried that was erased before. */
const present = /violated \(lead==\d\) /;
/** Every sender is answered, and no target is to be tried for the lead any more. */
const ended = /violated .*rows\[0\]\.state!=/;

/** Wrong protocols. */
const mutants: Record<string, Search & { readonly breaks: RegExp }> = {
  ANSWER_EARLY: { senders: 1, faults: 0, breaks: kept },
  CHECK_OUTSIDE: { senders: 2, faults: 0, breaks: once },
  LOST_COMMIT_IS_TAKEN: { senders: 1, faults: 1, breaks: kept },
  ROWS_LATER: { senders: 1, faults: 0, breaks: kept },
  NO_WORKER: { senders: 1, faults: 0, breaks: ended },
  CLAIM_NEVER_ENDS: { senders: 1, faults: 1, breaks: ended },
  CLAIM_SHORT: { senders: 1, faults: 0, breaks: apart },
  CLAIM_WITHOUT_LOOK: { senders: 1, faults: 0, breaks: apart },
  READ_BEFORE_CLAIM: { senders: 1, faults: 1, breaks: present },
  DONE_EARLY: { senders: 1, faults: 0, breaks: kept },
  RECORD_LOST: { senders: 1, faults: 1, breaks: kept },
  RECORD_WITHOUT_NUMBER: { senders: 1, faults: 2, breaks: apart },
  NUMBER_COMES_AGAIN: { senders: 1, faults: 3, breaks: apart },
  DEAD_WITHOUT_TRY: { senders: 1, faults: 0, breaks: kept },
  RETRY_ENDS_CLAIM: { senders: 1, faults: 1, breaks: apart },
  ERASE_MISSED: { senders: 1, faults: 1, breaks: kept },
  APPEND_WITHOUT_LOOK: { senders: 1, faults: 1, breaks: kept },
  APPEND_TO_OPEN_FILE: { senders: 1, faults: 2, isLiveness: true, breaks: /acceptance cycle/ },
};

function search({ senders, faults, isLiveness, mutant = 'NONE' }: Search): Found {
  const place = mkdtempSync(join(tmpdir(), 'leads-model-'));
  // A search that finds something ends with a status of its own.
  const run = (program: string, words: readonly string[]): string => {
    const { stdout, stderr } = spawnSync(program, words, { cwd: place, encoding: 'utf8' });
    return stdout + stderr;
  };
  const settings = Object.entries({
    MUTANT: mutant,
    SENDERS: senders,
    FAULTS: faults,
  }).map(([name, value]) => `-D${name}=${value}`);
  run('spin', ['-a', ...settings, model]);
  // States that are compressed take a quarter of the memory, and twice the time.
  const kind = isLiveness === true ? ['-DCOLLAPSE', '-DNFAIR=3'] : ['-DSAFETY', '-DNOCLAIM'];
  // What is found at once is not worth the time of the optimizer.
  const effort = mutant === 'NONE' ? '-O2' : '-O0';
  run('gcc', ['-w', effort, '-DMEMLIM=3000', ...kind, '-o', 'pan', 'pan.c']);
  // A process that waits for ever is allowed; that all of them do is the monitor's to judge.
  const said = run('./pan', ['-m1000000', ...(isLiveness === true ? ['-a', '-f'] : ['-E'])]);
  const errors = /errors: (0|1)$/m.exec(said)?.[1];
  // What is left unsearched behind a first error was not to be searched.
  const isCut = errors !== '1' && /Search not completed/.test(said);
  if (errors === undefined || isCut || /max search depth too small|memory limit/.test(said))
    throw new Error(said);
  const numberOf = (pattern: RegExp): number => Number(pattern.exec(said)?.[1] ?? 0);
  return {
    errors: numberOf(/errors: (\d+)/),
    states: numberOf(/(\d+) states, stored/),
    depth: numberOf(/depth reached (\d+)/),
    seconds: numberOf(/elapsed time ([\d.]+)/),
    broken: /^pan:1: (.*)/m.exec(said)?.[1] ?? '',
    unreached: unreachedIn(said),
  };
}

function unreachedIn(said: string): string[] {
  const unreached: string[] = [];
  let process = '';
  for (const line of said.split('\n')) {
    process = /^unreached in (?:proctype |init|claim )?(\w*)/.exec(line)?.[0] ?? process;
    const [, at = '', state = '', text = ''] = /delivery\.pml:(\d+), state (\d+), "(.*)"/.exec(line) ?? [];
    // What only a wrong protocol does stands on a line that names it.
    const isOfMutant = lines[Number(at) - 1]?.includes('mutant(') === true;
    if (at !== '' && text !== '-end-' && !isOfMutant)
      unreached.push(`${process}: line ${at}, state ${state}`);
  }
  return unreached;
}

function report(name: string, { states, depth, seconds }: Found): void {
  console.log(`${name}: ${states} states, depth ${depth}, ${seconds} s`);
}

describe.skipIf(missing.length > 0)('the model of the delivery protocol', { timeout: 600_000 }, () => {
  const unreached: (readonly string[])[] = [];

  test.each(Object.entries(searches))('%s', (name, one) => {
    const found = search(one);
    report(name, found);
    expect(found).toMatchObject({ errors: 0, broken: '' });
    unreached.push(found.unreached);
  });

  test('every statement of it is in some step', () => {
    expect(unreached).toHaveLength(Object.keys(searches).length);
    const [first = [], ...rest] = unreached;
    expect(first.filter((one) => rest.every((others) => others.includes(one)))).toEqual([]);
  });

  test.each(Object.entries(mutants))('rejects %s', (mutant, { breaks, ...one }) => {
    const found = search({ ...one, mutant });
    report(mutant, found);
    expect(found.errors).toBe(1);
    expect(found.broken).toMatch(breaks);
  });
});
