import { mkdir, mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addonFolder, removeAbandonedAddons } from '../../../src/files/embedded/addon.ts';

it('removes the add-ons of killed processes, and nothing else', async () => {
  const place = await mkdtemp(join(tmpdir(), 'leads-'));
  const folder = async (name: string, ageMs: number): Promise<string> => {
    const path = join(place, name);
    await mkdir(path);
    await writeFile(join(path, 'libsql.node'), 'code');
    const changed = new Date(Date.now() - ageMs);
    await utimes(path, changed, changed);
    return path;
  };
  await folder(`${addonFolder}killed`, 120_000);
  await folder(`${addonFolder}other1`, 1000);
  await folder('leads-demo-123456', 120_000);

  removeAbandonedAddons(await folder(`${addonFolder}ourown`, 0));

  expect((await readdir(place)).sort()).toEqual([
    `${addonFolder}other1`,
    `${addonFolder}ourown`,
    'leads-demo-123456',
  ]);
});
