import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

/**
 * Bundles a TypeScript program of the tests so that any node can run it; gives the path of the result, which is below
 * `place`: where node finds the packages that it imports.
 */
export async function buildProgram(source: URL, place = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(place, 'leads-program-'));
  const input = fileURLToPath(source);
  const file = join(folder, basename(input).replace(/\.ts$/, '.mjs'));
  // Names that are not paths are packages and builtins: node finds them when the program runs.
  await build({
    input,
    platform: 'node',
    external: /^[^./]/,
    transform: { define: { LEADS_SINGLE_FILE: 'false' } },
    output: { file, format: 'esm', codeSplitting: false },
  });
  return file;
}
