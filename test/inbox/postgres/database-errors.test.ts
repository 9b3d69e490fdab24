import { expect, test } from 'vitest';
import { ConfigError, describe } from '../../../src/errors.ts';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import { parseDatabaseUrl } from '../../../src/inbox/postgres/database-url.ts';
import {
  cannotOpen,
  cannotWrite,
  connectionCut,
  ConnectionError,
  DatabaseError,
  DatabaseUnavailableError,
  isServerAnswer,
  isSessionLost,
  openingError,
  sessionError,
} from '../../../src/inbox/postgres/database-errors.ts';

const failed = (code: string): Error => Object.assign(new Error('as it says'), { code });
const url = parseDatabaseUrl('postgres://ada@db.example:6432/leads', () => '');
const [host = { name: '', port: 0, isSocket: false }] = url.hosts;
const opening = (error: Error, hasPassword = true) => openingError(error, { url, host, hasPassword });

const settings: readonly (readonly [Error, string, string | undefined])[] = [
  [
    new ConnectionError('it offers none', 'no TLS'),
    'does not offer TLS',
    'turn it on there (ssl = on), or add',
  ],
  [failed('28P01'), "does not take the password of user 'ada'", 'it is looked for in the URL, PGPASSWORD'],
  [failed('28000'), "does not let user 'ada' in: as it says", 'pg_hba.conf of the server says'],
  [failed('3D000'), "has no database 'leads'", 'make it: createdb leads'],
  [failed('42501'), "does not let user 'ada' connect to 'leads'", 'GRANT CONNECT ON DATABASE'],
  [failed('ERR_TLS_CERT_ALTNAME_INVALID'), 'has a certificate for another name', 'or use sslmode=verify-ca'],
  [failed('CERT_HAS_EXPIRED'), 'has a certificate that has expired', 'renew it on the server'],
  [failed('SELF_SIGNED_CERT_IN_CHAIN'), 'of an authority that is not known', 'sslrootcert=/path/to/ca.pem'],
  [failed('ERR_SSL_TLSV1_ALERT'), 'TLS failed: as it says', undefined],
];

test.each(settings)('%s is a matter of configuration', (error, message, hint) => {
  const thrown = opening(error);
  expect(thrown).toBeInstanceOf(ConfigError);
  const said = describe(thrown);
  expect(said.message).toMatch(/^the database on db\.example:6432/);
  expect(said.message).toContain(message);
  if (hint === undefined) expect(said.hint).toBeUndefined();
  else expect(said.hint).toContain(hint);
});

test('a password that is missing is told from a wrong one', () => {
  expect(describe(opening(failed('28P01'), false)).message).toContain('and none was found');
});

test.each([
  [failed('ECONNREFUSED'), 'cannot be reached: connection refused', 'is PostgreSQL running there?'],
  [failed('ENOENT'), 'cannot be reached: there is no socket', 'is PostgreSQL running there?'],
  [failed('EAI_AGAIN'), 'cannot be reached: the name is not found', 'check its spelling, and DNS'],
  [failed('EHOSTUNREACH'), 'cannot be reached: as it says', undefined],
  [connectionCut(), 'cannot be reached: it closed the connection', undefined],
  [failed('53300'), 'has no connection left: as it says', 'raise max_connections there'],
] as const)('%s may pass by itself', (error, message, hint) => {
  const thrown = opening(error);
  expect(thrown).toBeInstanceOf(DatabaseUnavailableError);
  const said = describe(thrown);
  expect(said.message).toContain(message);
  if (hint === undefined) expect(said.hint).toBeUndefined();
  else expect(said.hint).toContain(hint);
});

test.each([
  ['53100', 'no space left on the disk of the database', 'free some space'],
  ['53200', 'the database lacks a resource', undefined],
  ['25006', 'the database is read-only', 'name the host that takes writes'],
  ['55P03', 'another transaction holds it locked', undefined],
  ['57014', 'the database took too long', undefined],
  ['57P01', 'the database ended the connection', undefined],
  ['08006', 'the connection was cut', undefined],
  ['42501', 'as it says', 'docs/fleet.md names the rights'],
  ['22P05', 'as it says', undefined],
])('SQLSTATE %s says why nothing was stored', (code, reason, hint) => {
  const error = cannotWrite('postgres://db', new DatabaseError('as it says', code));
  expect(error).toBeInstanceOf(CannotStoreError);
  const said = describe(error);
  expect(said.message).toBe(`cannot store in the inbox postgres://db: ${reason}`);
  if (hint === undefined) expect(said.hint).toBeUndefined();
  else expect(said.hint).toContain(hint);
});

test('why there is no connection is passed on, with its hint', () => {
  const error = cannotWrite('postgres://db', opening(failed('ECONNREFUSED')));
  expect(describe(error)).toEqual({
    message:
      'cannot store in the inbox postgres://db: the database on db.example:6432 cannot be reached: connection refused',
    hint: 'is PostgreSQL running there?',
  });
});

test('another session is tried after a cut, and not after a statement that was too slow', () => {
  const broken = [connectionCut(), failed('ECONNRESET'), failed('57P01'), failed('25006')];
  expect(broken.map((error) => isSessionLost(sessionError(error)))).toEqual([true, true, true, true]);
  const slow = sessionError(new ConnectionError('a statement was not answered in 5 s'));
  expect(slow).toBeInstanceOf(DatabaseUnavailableError);
  expect(isSessionLost(slow)).toBe(false);
  expect(sessionError(failed('23505'))).toBeUndefined();
});

test('an inbox that cannot be opened is unavailable where that passes, and else a matter of configuration', () => {
  expect(cannotOpen('postgres://db', new DatabaseError('failed', '53100'))).toBeInstanceOf(
    DatabaseUnavailableError,
  );
  expect(cannotOpen('postgres://db', new DatabaseError('failed', '42P01'))).toBeInstanceOf(ConfigError);
});

test('only an error of the database itself is its answer: a code of node has five capital letters, too', () => {
  expect(isServerAnswer(new DatabaseError('failed', '23505'))).toBe(true);
  expect(isServerAnswer(failed('EPIPE'))).toBe(false);
});
