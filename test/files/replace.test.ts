import { execFile, execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
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
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { InterruptedError } from '../../src/errors.ts';
import { replaceFile, writeToDescriptor, writeWhole } from '../../src/files/replace.ts';

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
    await writeWhole(`/dev/fd/${fd}`, 'two ü\n');
    closeSync(fd);
    expect(readFileSync(path, 'utf8')).toBe('before\none\ntwo ü\n');
  });

  it('waits for a slow reader of a pipe that does not block, as stdout is once it was written to', async () => {
    const path = join(directory(), 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    const counted = promisify(execFile)('sh', ['-c', 'sleep 0.2; wc -c <"$0"', path]);
    await writeWhole(`/dev/fd/${fd}`, 'x'.repeat(1_000_000));
    closeSync(fd);
    expect((await counted).stdout.trim()).toBe('1000000');
    closeSync(reader);
  });

  it('ends its wait for a reader that does not read at an interruption', async () => {
    const path = join(directory(), 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    const interruption = new AbortController();
    const written = writeToDescriptor(fd, Buffer.alloc(1_000_000), interruption.signal);
    interruption.abort(new InterruptedError('SIGINT'));
    await expect(written).rejects.toBeInstanceOf(InterruptedError);
    closeSync(fd);
    closeSync(reader);
  });

  it.skipIf(process.platform !== 'linux')('leaves the descriptor open where it cannot write', async () => {
    const fd = openSync('/dev/full', 'w');
    await expect(writeWhole(`/dev/fd/${fd}`, 'one\n')).rejects.toMatchObject({
      code: 'output',
      message: expect.stringContaining('no space left on the device') as string,
    });
    await new Promise(setImmediate);
    expect(fstatSync(fd).isCharacterDevice()).toBe(true);
    closeSync(fd);
  });
});
