import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('what every user of webhook loads is below 40 kB, minified, and needs no dependency', async () => {
  const bundle = await rolldown({ cwd: root, input: 'src/library/webhook.ts', platform: 'node' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const chunks = new Map(
    output.flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one] as const] : [])),
  );
  const all = [...chunks.values()];
  const outside = all.flatMap((chunk) => chunk.imports).filter((name) => !chunks.has(name));
  expect(outside.filter((name) => !/^node:(buffer|crypto|util|util\/types|zlib)$/.test(name))).toEqual([]);
  const loaded = new Set<string>();
  const load = (name: string): void => {
    if (!chunks.has(name) || loaded.has(name)) return;
    loaded.add(name);
    chunks.get(name)?.imports.forEach(load);
  };
  load('webhook.js');
  const bytes = [...loaded].map((name) => Buffer.byteLength(chunks.get(name)?.code ?? ''));
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(40_000);
  const modules = [...loaded].flatMap((name) => chunks.get(name)?.moduleIds ?? []);
  expect(modules.filter((id) => /webhook\/(explain|rfc9421)\/|receiver|inbox/.test(id))).toEqual([]);
});
