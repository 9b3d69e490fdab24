import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findOutputPlace, regularFile } from '../../src/files/output-place.ts';
import { freshHome } from '../support/run.ts';

describe('the place of an output', () => {
  const home = freshHome();
  const at = (name: string): string => join(home, name);

  it('is a file, there or not, and behind links', async () => {
    writeFileSync(at('real'), '', { mode: 0o640 });
    symlinkSync('real', at('link'));
    symlinkSync(at('link'), at('second'));
    symlinkSync('not-yet', at('dangling'));
    expect(await findOutputPlace(at('real'))).toEqual({ kind: 'file', path: at('real'), mode: 0o640 });
    expect(await findOutputPlace(at('second'))).toMatchObject({ path: at('real'), mode: 0o640 });
    expect(await findOutputPlace(at('new'))).toEqual({ kind: 'file', path: at('new'), mode: undefined });
    expect(await findOutputPlace(at('dangling'))).toMatchObject({ kind: 'file', path: at('not-yet') });
  });

  it('is a descriptor, by whatever links it is reached', async () => {
    const fd = openSync(at('opened'), 'w');
    symlinkSync(`/proc/self/fd/${fd}`, at('stdout'));
    symlinkSync('/proc/self/fd', at('fd'));
    for (const path of [
      at('stdout'),
      join(at('fd'), String(fd)),
      `/dev/fd/${fd}`,
      `/proc/${process.pid}/fd/${fd}`,
    ]) {
      expect(await findOutputPlace(path)).toEqual({ kind: 'descriptor', fd });
    }
    closeSync(fd);
  });

  it('is a named pipe or a device', async () => {
    execFileSync('mkfifo', [at('fifo')]);
    symlinkSync('/dev/null', at('null'));
    expect(await findOutputPlace(at('fifo'))).toEqual({ kind: 'fifo', path: at('fifo') });
    expect(await findOutputPlace(at('null'))).toEqual({ kind: 'device', path: '/dev/null' });
    await expect(regularFile(at('fifo'))).rejects.toMatchObject({
      message: `cannot write ${at('fifo')}: it is not a regular file`,
    });
  });

  it.each([
    ['a directory', '.', 'it is a directory'],
    ['a path through a file', 'plain/x', 'a part of its path is not a directory'],
    ['links in a circle', 'circle', 'its links lead to each other'],
    ['a circle of directories', 'circle/x', 'its links lead to each other'],
    ['a name that is too long', 'x'.repeat(300), 'its name is too long'],
  ])('is not %s', async (_, path, reason) => {
    const place = freshHome();
    writeFileSync(join(place, 'plain'), '');
    mkdirSync(join(place, 'd'));
    symlinkSync('other', join(place, 'circle'));
    symlinkSync('circle', join(place, 'other'));
    await expect(findOutputPlace(join(place, path))).rejects.toMatchObject({
      code: 'output',
      message: `cannot write ${join(place, path)}: ${reason}`,
    });
  });
});
