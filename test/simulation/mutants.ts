import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { planOf } from './world/plan.ts';
import { endedByMachine, type Workers } from './workers.ts';

/** Makes the product's bundle of the source below a folder. */
export type BundleProgram = (root: string, file: string) => Promise<void>;

export interface MutantOptions {
  readonly root: string;
  /** For the bundles. */
  readonly folder: string;
  /** The product without any mutant: a seed that fails for it as well finds nothing. */
  readonly program: string;
  readonly bundleProgram: BundleProgram;
  readonly workers: Workers;
  readonly firstSeed: number;
  readonly mostSeeds: number;
}

/** Which seed found a mutant, as how manieth, and by what. */
export interface Found {
  readonly seed: number;
  readonly tried: number;
  readonly invariant: string;
}

const folderOfMutants = 'test/simulation/mutants';

/** The planted faults: patches of the product's source. */
export const mutantsOf = (root: string): readonly string[] =>
  readdirSync(join(root, folderOfMutants))
    .filter((file) => file.endsWith('.patch'))
    .map((file) => basename(file, '.patch'))
    .sort();

/** Runs seeds on the product with the fault until an invariant fails that holds without it. */
export async function findMutant(name: string, options: MutantOptions): Promise<Found | undefined> {
  const { workers, firstSeed, mostSeeds } = options;
  const program = join(options.folder, `${name}.cjs`);
  await bundleMutant(name, program, options);
  for (let tried = 0; tried < mostSeeds; tried += workers.jobs) {
    const seeds = Array.from(
      { length: Math.min(workers.jobs, mostSeeds - tried) },
      (_, i) => firstSeed + tried + i,
    );
    const results = await Promise.all(seeds.map((seed) => workers.run(planOf(seed), { program })));
    for (const [i, { seed, failure }] of results.entries()) {
      // A world that this machine ended, or gave no time, shows nothing of the fault.
      if (failure === undefined || failure.invariant === endedByMachine) continue;
      const without = await workers.run(planOf(seed), { program: options.program });
      if (without.failure === undefined) return { seed, tried: tried + i + 1, invariant: failure.invariant };
    }
  }
  return undefined;
}

async function bundleMutant(
  name: string,
  file: string,
  { root, bundleProgram }: Pick<MutantOptions, 'root' | 'bundleProgram'>,
): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'leads-mutant-'));
  try {
    for (const part of ['src', 'test/simulation', 'package.json']) {
      cpSync(join(root, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const patch = join(root, folderOfMutants, `${name}.patch`);
    execFileSync('git', ['apply', patch], {
      cwd: copy,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(copy) },
    });
    await bundleProgram(copy, file);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
