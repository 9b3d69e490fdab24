import { execFile } from 'node:child_process';
import { mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { baselineName, root } from './baseline.ts';

const run = promisify(execFile);

/** A build to measure against. */
export interface BaseBuild {
  readonly folder: string;
  readonly commit: string;
}

/**
 * Builds the commit that last changed the baseline into a temporary folder; undefined where that is the one checked out,
 * which is compared with nothing. Fails where the history does not show which commit it is.
 */
export async function buildBase(): Promise<BaseBuild | undefined> {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', args, { cwd: root })).stdout.trim();
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true')
    await git('fetch', '--quiet', '--unshallow');
  const commit = await git('log', '-1', '--format=%H', '--', baselineName);
  if (commit === '') throw new Error(`no commit has ${baselineName}`);
  if (commit === (await git('rev-parse', 'HEAD'))) return undefined;
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
