import { expect, it } from 'vitest';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';

const missing = Object.assign(new Error("Cannot find module '@libsql/linux-x64-gnu'"), {
  code: 'MODULE_NOT_FOUND',
});

it('libsql that is not installed is a ConfigError with the command that installs this version', async () => {
  await expect(loadLibsql(() => Promise.reject(missing))).rejects.toMatchObject({
    code: 'config',
    message: 'the package libsql is not installed, or not for this platform',
    hint: 'npm install libsql@0.5.29, with --global where leads was installed so',
  });
});

it('another fault of libsql stays as it is', async () => {
  const fault = new Error('invalid ELF header');
  await expect(loadLibsql(() => Promise.reject(fault))).rejects.toBe(fault);
});
