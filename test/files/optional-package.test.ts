import { expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { optionalPackages, packageError } from '../../src/files/optional-package.ts';
import { loadLibsql } from '../../src/inbox/sqlite/libsql.ts';
import { inWords } from '../support/in-words.ts';

const missing = Object.assign(new Error("Cannot find module '@libsql/linux-x64-gnu'"), {
  code: 'MODULE_NOT_FOUND',
});

it('a package that is not installed is a ConfigError with the command that installs this version', async () => {
  await expect(inWords(loadLibsql(() => Promise.reject(missing)))).rejects.toMatchObject({
    code: 'config',
    message: 'the package libsql is not installed, or not for this platform',
    hint: 'npm install libsql@0.5.29, with --global where leads was installed so',
  });
  const error = packageError('jq-web', Object.assign(new Error(), { code: 'ERR_MODULE_NOT_FOUND' }));
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).problem).toMatchObject({ version: optionalPackages['jq-web'] });
});

it('another fault of a package stays as it is', async () => {
  const fault = new Error('invalid ELF header');
  await expect(loadLibsql(() => Promise.reject(fault))).rejects.toBe(fault);
});
