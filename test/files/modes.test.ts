import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeDirectory } from '../../src/files/modes.ts';
import { freshHome } from '../support/run.ts';

it('makes what is missing, each with the mode, and takes what is there', () => {
  const home = freshHome();
  const path = join(home, 'a', 'b', 'c');
  makeDirectory(path, 0o700);
  makeDirectory(path, 0o700);
  expect(statSync(join(home, 'a')).mode & 0o777).toBe(0o700);
  symlinkSync(path, join(home, 'link'));
  makeDirectory(join(home, 'link', 'd'));
  expect(existsSync(join(path, 'd'))).toBe(true);
  makeDirectory(join(home, 'link'));
  makeDirectory('/');
});

it('says what is in its way, and ends where the system makes nothing', () => {
  const home = freshHome();
  writeFileSync(join(home, 'file'), '');
  expect(() => makeDirectory(join(home, 'file'))).toThrow('EEXIST');
  expect(() => makeDirectory(join(home, 'file', 'x', 'y'))).toThrow('ENOTDIR');
  mkdirSync(join(home, 'folder'));
  symlinkSync(join(home, 'nowhere'), join(home, 'broken'));
  expect(() => makeDirectory(join(home, 'broken'))).toThrow('EEXIST');
  if (existsSync('/proc/self')) expect(() => makeDirectory('/proc/nothing/here')).toThrow('ENOENT');
});
