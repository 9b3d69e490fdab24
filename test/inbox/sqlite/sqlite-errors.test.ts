import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, DataError, describe } from '../../../src/errors.ts';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import { cannotOpen, cannotRead, cannotWrite } from '../../../src/inbox/sqlite/sqlite-errors.ts';
import { freshFile } from '../support.ts';

const failed = (code: string): Error => Object.assign(new Error('as SQLite says it'), { code });

test.each([
  ['SQLITE_FULL', 'no space left on the device', 'free some space; nothing that was acknowledged is lost'],
  ['SQLITE_BUSY_SNAPSHOT', 'another process holds it locked', undefined],
  ['SQLITE_LOCKED', 'another process holds it locked', undefined],
  [
    'SQLITE_READONLY_DBMOVED',
    'it is read-only',
    'make the file and its directory writable, or name another --inbox',
  ],
  ['SQLITE_NOTADB', 'it is not an inbox database', 'move it away, or name another --inbox'],
  [
    'SQLITE_CORRUPT_INDEX',
    'the database is damaged',
    "'sqlite3 /data/i.db .recover | sqlite3 NEW' saves what it still holds",
  ],
  ['SQLITE_IOERR_WRITE', 'I/O error', undefined],
  ['SQLITE_CANTOPEN', 'it cannot be opened', 'check that the directory exists and is writable'],
  ['EACCES', 'permission denied in the directory /', undefined],
  ['SQLITE_CONSTRAINT', 'as SQLite says it', undefined],
])('%s says why nothing was stored, and what to do', (code, reason, hint) => {
  const error = cannotWrite('/data/i.db', failed(code));
  expect(error).toBeInstanceOf(CannotStoreError);
  expect(describe(error)).toEqual({
    message: `cannot store in the inbox /data/i.db: ${reason}`,
    hint,
  });
});

test('a failure to read is one of the data, unless the database did not fail', () => {
  const error = cannotRead('/data/i.db', failed('SQLITE_IOERR_READ'));
  expect(error).toBeInstanceOf(DataError);
  expect(describe(error).message).toBe('cannot read the inbox /data/i.db: I/O error');
  const bug = new TypeError('a bug');
  expect(cannotRead('/data/i.db', bug)).toBe(bug);
});

test('an inbox that cannot be opened is a matter of configuration, and another place mends it', () => {
  const error = cannotOpen('/data/i.db', failed('SQLITE_IOERR_READ'));
  expect(error).toBeInstanceOf(ConfigError);
  expect(describe(error)).toEqual({
    message: 'cannot open the inbox /data/i.db: I/O error',
    hint: 'name another place with --inbox or LEADS_DATA_DIR',
  });
});

test('a permission that is missing is one of the deepest part of the path that can be seen', () => {
  const path = freshFile('inbox.db');
  const directory = dirname(path);
  const messageOf = (place: string) => describe(cannotOpen(place, failed('EACCES'))).message;
  expect(messageOf(join(directory, 'a', 'b.db'))).toMatch(`permission denied in the directory ${directory}`);
  writeFileSync(path, '');
  expect(messageOf(path)).toMatch(/: permission denied$/);
});
