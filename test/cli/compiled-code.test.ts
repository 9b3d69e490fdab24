import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { freshHome } from '../support/run.ts';

const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));

/** Runs `leads help list`, whose code is in several files, and gives what is cached then. */
async function run(folder: string, words: readonly string[] = ['help', 'list'], env = {}) {
  const { stdout } = await execa(process.execPath, [bin, ...words], {
    env: { NODE_COMPILE_CACHE: folder, NODE_DISABLE_COMPILE_CACHE: '', ...env },
  });
  expect(stdout).toMatch(/leads/);
  const [name] = readdirSync(folder);
  return join(folder, name ?? '');
}

/** Only a file that was replaced has another one. */
const inode = (path: string): number => statSync(path).ino;

describe('the cache of compiled code', () => {
  it('is written once, for its owner alone, and grows by what another run adds', async () => {
    const folder = freshHome();
    const path = await run(folder);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const first = inode(path);
    await run(folder);
    expect(inode(path)).toBe(first);
    await run(folder, ['help', 'exit-codes']);
    const both = inode(path);
    expect(both).not.toBe(first);
    await run(folder);
    await run(folder, ['help', 'exit-codes']);
    expect(inode(path)).toBe(both);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    [
      'is of another build',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('exports', 'Exports'), 'latin1'),
    ],
    ['is cut', (bytes) => bytes.subarray(0, bytes.length - 1000)],
    ['has no head', (bytes) => bytes.subarray(bytes.indexOf('\n') + 1)],
    ['is empty', () => Buffer.alloc(0)],
    ['is damaged in the middle', (bytes) => Buffer.from(bytes).fill('Z', bytes.length >> 1)],
  ])('is made anew where it %s', async (_, change) => {
    const folder = freshHome();
    const path = await run(folder);
    const whole = readFileSync(path);
    const before = inode(path);
    writeFileSync(path, change(whole));
    await run(folder);
    expect(inode(path)).not.toBe(before);
    expect(Math.abs(statSync(path).size - whole.length)).toBeLessThan(2000);
  });

  it('is not run where others may have written it', async () => {
    const folder = freshHome();
    const path = await run(folder);
    const before = inode(path);
    chmodSync(path, 0o622);
    await run(folder);
    expect(inode(path)).not.toBe(before);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['symbolic', symlinkSync],
    ['hard', linkSync],
  ])('is not run through a %s link, which others may have made', async (_, link) => {
    const folder = freshHome();
    const path = await run(folder);
    const other = join(freshHome(), 'other');
    renameSync(path, other);
    link(other, path);
    const before = lstatSync(path).ino;
    await run(folder);
    expect(lstatSync(path).ino).not.toBe(before);
    expect(lstatSync(path).isFile()).toBe(true);
  });

  it('leaves nothing behind where it cannot be written', async () => {
    const folder = freshHome();
    const path = await run(folder);
    rmSync(path);
    mkdirSync(join(path, 'full'), { recursive: true });
    await run(folder);
    expect(readdirSync(folder)).toEqual([basename(path)]);
  });

  it('is not missed: switched off, or in a folder that cannot be', async () => {
    const folder = freshHome();
    writeFileSync(join(folder, 'file'), '');
    await run(folder, ['help', 'list'], { NODE_DISABLE_COMPILE_CACHE: '1' });
    await run(folder, ['help', 'list'], { NODE_COMPILE_CACHE: join(folder, 'file', 'below') });
    expect(readdirSync(folder)).toEqual(['file']);
    expect(existsSync(join(folder, 'file', 'below'))).toBe(false);
  });

  it('is not written by a run that failed', async () => {
    const folder = freshHome();
    await execa(process.execPath, [bin, 'list', '--no-such-flag'], {
      env: { NODE_COMPILE_CACHE: folder, NODE_DISABLE_COMPILE_CACHE: '' },
      reject: false,
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
