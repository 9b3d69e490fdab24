import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles a TypeScript program of the tests so that any node can run it; gives the path of the result. */
export async function buildProgram(source: URL): Promise<string> {
  const outdir = await mkdtemp(join(tmpdir(), 'leads-program-'));
  const entry = fileURLToPath(source);
  await build({
    entryPoints: [entry],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'error',
  });
  return join(outdir, basename(entry).replace(/\.ts$/, '.mjs'));
}
