import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Plan } from './world/plan.ts';
import type { WorldResult } from './world/result.ts';
import { type BundleProgram, findMutant, mutantsOf } from './mutants.ts';
import { planFor } from './plan-for.ts';
import { failureLines, report } from './report.ts';
import { type FirstFailing, shrink } from './shrink.ts';
import { Workers } from './workers.ts';

interface Simulation {
  /** Of the repository. */
  readonly root: string;
  /** For bundles. */
  readonly folder: string;
  /** The product's bundle. */
  readonly program: string;
  /** The script of a child, and its arguments. */
  readonly worker: readonly string[];
  readonly bundleProgram: BundleProgram;
}

/** A seed that failed once. */
interface FailedSeed {
  readonly seed: number;
  /** The smallest world that failed so; a later version may draw another one of the seed. */
  readonly plan?: Plan;
  readonly invariant: string;
  /** The subject of the commit that mended it. */
  readonly mended: string;
}

const usage = `npm run simulate -- --seed N                          one world, and the smallest one that fails as it does
npm run simulate -- --seeds COUNT [--from N]          many worlds
npm run simulate -- --commit                          the worlds of this commit
npm run simulate -- --mutants [NAME...] [--seeds N]   finds the planted faults of test/simulation/mutants
  --failed   with the worlds of failed-seeds.json
  --digest   a line a seed: the seed and the digest of its trace
  --jobs N   worlds at a time; default: one a core
`;

const seedsOfCommit = 80;

const seedsOfMutant = 1000;

/** So many mutants may stay unfound. */
const mostUnfound = 2;

/** Does what the arguments say, prints it, and gives the exit code. */
export async function simulate(argv: readonly string[], simulation: Simulation): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string' },
      from: { type: 'string', default: '1' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      mutants: { type: 'boolean', default: false },
      commit: { type: 'boolean', default: false },
      failed: { type: 'boolean', default: false },
      digest: { type: 'boolean', default: false },
    },
  });
  const { seed, seeds, digest } = values;
  const from = Number(values.from);
  const workers = new Workers({ worker: simulation.worker, jobs: Number(values.jobs) });
  try {
    if (values.mutants) {
      const names = positionals.length > 0 ? positionals : mutantsOf(simulation.root);
      return await findMutants(names, from, Number(seeds ?? seedsOfMutant), workers, simulation);
    }
    const known = failedSeeds(simulation.root);
    const planOfSeed = (one: number): Plan =>
      known.find(({ seed: failed }) => failed === one)?.plan ?? planFor(one);
    if (seed !== undefined && !digest) return await explain(planOfSeed(Number(seed)), workers, simulation);
    const drawn =
      seed !== undefined
        ? [Number(seed)]
        : seeds !== undefined
          ? Array.from({ length: Number(seeds) }, (_, i) => from + i)
          : values.commit
            ? seedsOf(simulation.root)
            : [];
    const failed = values.failed ? known.map((one) => one.seed) : [];
    const chosen = [...new Set([...failed, ...drawn])].map(planOfSeed);
    if (chosen.length === 0) {
      process.stderr.write(usage);
      return 2;
    }
    return await runAll(chosen, digest, workers, simulation);
  } finally {
    workers.close();
  }
}

/** Of the commit's hash, so that every commit sees others. */
function seedsOf(root: string): readonly number[] {
  const hash = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  return Array.from({ length: seedsOfCommit }, (_, i) =>
    createHash('sha256').update(`${hash}/${i}`).digest().readUInt32BE(0),
  );
}

const failedSeeds = (root: string): readonly FailedSeed[] =>
  JSON.parse(readFileSync(join(root, 'test/simulation/failed-seeds.json'), 'utf8')) as readonly FailedSeed[];

async function runAll(
  plans: readonly Plan[],
  digest: boolean,
  workers: Workers,
  { program }: Simulation,
): Promise<number> {
  const started = performance.now();
  let done = 0;
  let failed = 0;
  const run = async (plan: Plan): Promise<WorldResult> => {
    const result = await workers.run(plan, { program });
    done += 1;
    if (result.failure !== undefined) {
      failed += 1;
      if (!digest) progress(failureLines(result).join('\n') + '\n');
    }
    const rate = (done * 1000) / (performance.now() - started);
    progress(`${done} of ${plans.length} seeds, ${rate.toFixed(1)} a second, ${failed} failed`);
    return result;
  };
  const results = await Promise.all(plans.map(run));
  progress('');
  const lines = digest
    ? results.map((result) => `${result.seed} ${result.digest}`)
    : report(results, (performance.now() - started) / 1000);
  print(lines);
  return failed === 0 ? 0 : 1;
}

/** The trace of one world, what did not hold in it, and the smallest world in which that does not hold either. */
async function explain(plan: Plan, workers: Workers, { program }: Simulation): Promise<number> {
  const { seed } = plan;
  const run = (one: Plan): Promise<WorldResult> => workers.run(one, { program, wantsTrace: true });
  const result = await run(plan);
  const { failure } = result;
  if (failure === undefined) {
    print([...result.trace, '', `seed ${seed}: every invariant held`, result.digest]);
    return 0;
  }
  let runs = 0;
  const firstFailing: FirstFailing = async (candidates) => {
    for (let from = 0; from < candidates.length; from += workers.jobs) {
      const some = candidates.slice(from, from + workers.jobs);
      const results = await Promise.all(some.map((one) => workers.run(one, { program })));
      runs += some.length;
      progress(`making it smaller: ${runs} worlds, ${some[0]?.happenings.length ?? 0} happenings`);
      const found = results.findIndex((one) => one.failure?.invariant === failure.invariant);
      if (found >= 0) return some[found];
    }
    return undefined;
  };
  const smallest = await shrink(plan, firstFailing);
  progress('');
  const last = await run(smallest);
  print([
    ...result.trace,
    '',
    `seed ${seed}: ${failure.invariant}: ${failure.detail}`,
    '',
    `the smallest world that fails so: ${smallest.happenings.length} of ${plan.happenings.length} happenings, ${smallest.leads} leads, ${smallest.lengthMs} ms`,
    ...smallest.happenings.map((one) => `  ${JSON.stringify(one)}`),
    '',
    ...last.trace,
    '',
    last.failure === undefined
      ? 'It did not fail again: a world is not determined by its seed.'
      : `${last.failure.invariant}: ${last.failure.detail}`,
    '',
    'for failed-seeds.json:',
    JSON.stringify({ seed, invariant: failure.invariant, mended: '', plan: smallest } satisfies FailedSeed),
  ]);
  return 1;
}

async function findMutants(
  names: readonly string[],
  firstSeed: number,
  mostSeeds: number,
  workers: Workers,
  { root, folder, program, bundleProgram }: Simulation,
): Promise<number> {
  let unfound = 0;
  for (const name of names) {
    progress(`${name} …`);
    const options = { root, folder, program, bundleProgram, workers, firstSeed, mostSeeds };
    const found = await findMutant(name, options);
    progress('');
    if (found === undefined) unfound += 1;
    const seen =
      found === undefined
        ? `not found in ${mostSeeds} seeds`
        : `${String(found.tried).padStart(4)} seeds   ${found.invariant} (seed ${found.seed})`;
    print([`${name.padEnd(40)} ${seen}`]);
  }
  print([`${names.length - unfound} of ${names.length} found`]);
  return unfound > mostUnfound || unfound === names.length ? 1 : 0;
}

/** One line that is written over; nothing where nobody looks. */
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
}

const print = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);
