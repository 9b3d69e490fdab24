import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceFile, writeWhole } from '../../src/files/replace.ts';

const directory = () => mkdtempSync(join(tmpdir(), 'leads-replace-'));

describe('replaceFile', () => {
  it('writes the new content with the given mode, and leaves no other file', async () => {
    const path = join(directory(), 'a.json');
    writeFileSync(path, 'old');
    await replaceFile(path, 'new', { mode: 0o600 });
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, '..'))).toEqual(['a.json']);
  });

  it('keeps the old content, and leaves no temporary file, when it fails', async () => {
    const path = directory();
    mkdirSync(join(path, 'a.json', 'full'), { recursive: true });
    await expect(replaceFile(join(path, 'a.json'), 'new')).rejects.toMatchObject({ code: 'output' });
    expect(readdirSync(path)).toEqual(['a.json']);
  });
});

describe.skipIf(process.platform === 'win32')('writeWhole to a descriptor', () => {
  it('goes on where what the shell opened stands, and leaves it open', async () => {
    const path = join(directory(), 'all.ndjson');
    writeFileSync(path, 'before\n');
    const fd = openSync(path, 'a');
    await writeWhole(`/dev/fd/${fd}`, 'one\n');
    await writeWhole(
      `/dev/fd/${fd}`,
      (async function* () {
        yield await Promise.resolve('two ');
        yield 'ü\n';
      })(),
    );
    closeSync(fd);
    expect(readFileSync(path, 'utf8')).toBe('before\none\ntwo ü\n');
  });
});
