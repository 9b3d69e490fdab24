import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

const library = fileURLToPath(new URL('../../src/library', import.meta.url));

it.each([
  ['client', 7],
  ['webhook', 3],
])("the errors of %s keep their names in an application's minified bundle", async (entry, count) => {
  const file = join(mkdtempSync(join(tmpdir(), 'leads-minified-')), 'bundle.mjs');
  const bundle = await rolldown({ input: join(library, `${entry}.ts`), platform: 'node' });
  await bundle.write({ file, format: 'esm', minify: true, codeSplitting: false });
  await bundle.close();
  const exported = (await import(pathToFileURL(file).href)) as Record<string, new (cause: unknown) => Error>;
  const errors = Object.entries(exported).filter(([, value]) => value.prototype instanceof Error);
  expect(errors).toHaveLength(count);
  for (const [name, ErrorClass] of errors) {
    if (name === 'LeadsError') continue;
    const cause = name === 'IncompleteError' ? { reason: { message: 'a page failed' } } : 'it failed';
    expect([new ErrorClass(cause).name, ErrorClass.name === name]).toEqual([name, false]);
  }
});
