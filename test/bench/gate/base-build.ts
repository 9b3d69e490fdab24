import { execFile } from 'node:child_process';
import { mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { baselineName, root } from './baseline.ts';

const run = promisify(execFile);

/** A build to measure against, or why there is none. */
export type BaseBuild =
  { readonly folder: string; readonly commit: string } | { readonly folder: undefined; readonly why: string };

/** Builds the commit that last changed the baseline into a temporary folder. */
export async function buildBase(): Promise<BaseBuild> {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', args, { cwd: root })).stdout.trim();
  const none = (why: string): BaseBuild => ({ folder: undefined, why });
  const isShallow = await git('rev-parse', '--is-shallow-repository').catch(() => undefined);
  if (isShallow === undefined) return none('this is no git repository');
  if (isShallow === 'true') return none('the history is shallow');
  const commit = await git('log', '-1', '--format=%H', '--', baselineName);
  if (commit === '') return none(`no commit has ${baselineName}`);
  if (commit === (await git('rev-parse', 'HEAD')))
    return none(`this commit is the one that changed ${baselineName}`);
  const folder = await mkdtemp(join(tmpdir(), 'leads-base-'));
  await run('bash', ['-c', 'set -o pipefail; git archive "$1" | tar -x -C "$2"', 'bash', commit, folder], {
    cwd: root,
  });
  const lockOf = (place: string): Promise<string> => readFile(join(place, 'package-lock.json'), 'utf8');
  if ((await lockOf(folder)) === (await lockOf(root))) {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  } else await run('npm', ['ci', '--silent'], { cwd: folder });
  await run(process.execPath, ['.config/build.mjs'], { cwd: folder });
  return { folder, commit };
}
