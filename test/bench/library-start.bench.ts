import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { entries } from '../library/package/installed-package.ts';
import { median, printTable, timed } from '../support/measure.ts';

const rounds = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 25);
const library = new URL('../../dist/library/', import.meta.url);

/** What an application's start pays for an entry before it uses it: a process that imports one and ends. */
it('imports each entry in 1.6 times the start of node', async () => {
  const env = { ...process.env };
  // node 20 reads it at every start, which costs as much again as the whole of node.
  delete env['NODE_EXTRA_CA_CERTS'];
  delete env['NODE_OPTIONS'];
  const place = mkdtempSync(join(tmpdir(), 'leads-bench-'));
  const importing = (name: string): readonly [string, string] => {
    const file = join(place, `${name}.mjs`);
    const entry = new URL(`${name}.js`, library).href;
    writeFileSync(file, name === 'nothing' ? '' : `import ${JSON.stringify(entry)};\n`);
    return [process.execPath, file];
  };
  const contestants: Readonly<Record<string, readonly [string, ...string[]]>> = {
    'node -e 0': [process.execPath, '-e', '0'],
    // A part of what is measured is node's own loader of ES modules.
    'an empty module': importing('nothing'),
    ...Object.fromEntries(entries.map((name) => [name, importing(name)])),
  };
  const taken = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, line] of Object.entries(contestants)) {
      taken.set(name, [...(taken.get(name) ?? []), await timed(line, env)]);
    }
  }
  const wall = (name: string): number => median(taken.get(name) ?? []);
  const base = wall('node -e 0');
  printTable(`import of the package's entries on node ${process.version}, medians of ${rounds}`, [
    ['', 'ms', '× node -e 0'],
    ...Object.keys(contestants).map((name) => [name, wall(name).toFixed(1), (wall(name) / base).toFixed(2)]),
  ]);
  for (const name of entries) expect(wall(name) / base, name).toBeLessThanOrEqual(1.6);
});
