import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('webhook loads no dependency, and nothing of receiver and inbox', async () => {
  const bundle = await rolldown({ cwd: root, input: 'src/library/webhook.ts', platform: 'node' });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  const chunks = output.filter((one) => one.type === 'chunk');
  const names = chunks.map(({ fileName }) => fileName);
  const outside = chunks.flatMap(({ imports }) => imports).filter((name) => !names.includes(name));
  expect(outside.filter((name) => !/^node:(buffer|crypto|util|util\/types|zlib)$/.test(name))).toEqual([]);
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  expect(modules.filter((id) => /[\\/]src[\\/](receiver|inbox)[\\/]|node_modules/.test(id))).toEqual([]);
});
