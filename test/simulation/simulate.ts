import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Plan, planOf } from './world/plan.ts';
import type { WorldResult } from './world/result.ts';
import { type BundleProgram, findMutant, mutantsOf } from './mutants.ts';
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
  /** The world that failed so; a later version may draw another one of the seed. */
  readonly plan: Plan;
  readonly invariant: string;
  /** The subject of the commit that mended it. */
  readonly mended: string;
}

const usage = `npm run simulate -- --seed N                          one world, with all that happens in it
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
      known.find(({ seed: failed }) => failed === one)?.plan ?? planOf(one);
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
    const { seed, failure } = result;
    if (failure !== undefined) {
      failed += 1;
      if (!digest)
        print([`npm run simulate -- --seed ${seed}   ${failure.invariant}: ${firstLine(failure.detail)}`]);
    }
    progress(`${done} of ${plans.length} seeds, ${failed} failed`);
    return result;
  };
  const results = await Promise.all(plans.map(run));
  progress('');
  const seconds = (performance.now() - started) / 1000;
  print(
    digest
      ? results.map((result) => `${result.seed} ${result.digest}`)
      : [`${plans.length} seeds in ${seconds.toFixed(0)} s, ${failed} failed`],
  );
  return failed === 0 ? 0 : 1;
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

/** The trace of one world, and what did not hold in it. */
async function explain(plan: Plan, workers: Workers, { program }: Simulation): Promise<number> {
  const { seed } = plan;
  const { failure, trace, digest } = await workers.run(plan, { program, wantsTrace: true });
  if (failure === undefined) {
    print([...trace, '', `seed ${seed}: every invariant held`, digest]);
    return 0;
  }
  const entry: FailedSeed = { seed, invariant: failure.invariant, mended: '', plan };
  print([
    ...[...trace, '', `seed ${seed}: ${failure.invariant}: ${failure.detail}`],
    ...['', 'for failed-seeds.json:', JSON.stringify(entry)],
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
