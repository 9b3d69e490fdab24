import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

export const entries = ['webhook', 'client', 'testing'] as const;

/**
 * The folder of a project that has installed the package from its tarball, and `others`, as they are installed here. What
 * the package depends on is there only when it is named: npm is not asked for anything.
 */
export async function projectWithPackage(others: readonly string[] = []): Promise<string> {
  await run(process.execPath, ['.config/types.mjs'], { cwd: root });
  // Node resolves links: a file that is named by one would be loaded twice.
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'leads-project-')));
  const modules = join(project, 'node_modules');
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run('tar', ['-xzf', filename], { cwd: project });
  mkdirSync(modules);
  renameSync(join(project, 'package'), join(modules, 'leads-cli'));
  for (const name of others) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  return project;
}
