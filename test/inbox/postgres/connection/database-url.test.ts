import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LeadsError } from '../../../../src/errors.ts';
import { parseDatabaseUrl } from '../../../../src/inbox/postgres/database-url.ts';
import { locationOf } from '../location.ts';

const parse = (url: string) => parseDatabaseUrl(url, () => 'me');
const hostsOf = (url: string): string[] => parse(url).hosts.map(({ name, port }) => `${name} ${port}`);

describe('a URL of a database', () => {
  test.each([
    ['postgres://u:p@db.example:6432/leads', ['db.example 6432']],
    ['postgresql://db.example', ['db.example 5432']],
    ['postgres:///leads', ['localhost 5432']],
    ['postgres://a,b:6000,[::1]:7000/leads', ['a 5432', 'b 6000', '::1 7000']],
    ['postgres:///leads?host=a,b&port=1,2', ['a 1', 'b 2']],
    ['postgres:///leads?host=a,b&port=9', ['a 9', 'b 9']],
    ['postgres://%2Frun%2Fpostgresql:6000/leads', ['/run/postgresql 6000']],
    ['postgres://u@/leads?host=/run/postgresql', ['/run/postgresql 5432']],
  ])('%s names its hosts', (url, hosts) => {
    expect(hostsOf(url)).toEqual(hosts);
  });

  test('of a host of databases is taken as it is, and what says nothing here is named', () => {
    const warnings: string[] = [];
    const parameters =
      'channel_binding=require&keepalives=1&keepalives_idle=30&load_balance_hosts=random&tcp_user_timeout=9';
    const { url } = locationOf(`postgres://h/db?${parameters}&options=endpoint%3Dx&connect_timeout=0`, {
      warnings,
    });
    expect(url).toMatchObject({ options: 'endpoint=x', connectTimeoutMs: 5000 });
    expect(warnings).toEqual([
      'channel_binding, keepalives, keepalives_idle, load_balance_hosts, tcp_user_timeout in the URL of the database has no effect here',
    ]);
  });

  test('has the defaults of libpq', () => {
    expect(parse('postgres://h')).toMatchObject({
      user: 'me',
      database: 'me',
      schema: 'leads',
      password: undefined,
      sessionAttributes: 'any',
      applicationName: 'leads',
    });
    const given = parse('postgres://a%40b:c%3Ad@h/x%2Fy?application_name=shop&connect_timeout=3&user=other');
    expect(given).toMatchObject({
      user: 'other',
      database: 'x/y',
      applicationName: 'shop',
      connectTimeoutMs: 3000,
    });
    expect(given.password?.reveal()).toBe('c:d');
  });

  test.each([
    ['postgres://h/db?chanel_binding=require', 'a parameter that is not known: chanel_binding'],
    ['postgres://h/db?sslmode=prefer', 'sslmode=prefer in the URL of the database is no protection'],
    ['postgres://h/db?sslmode=on', 'not one of disable, require'],
    ['postgres://h/db?target_session_attrs=primry', 'not one of any, read-write, primary'],
    ['postgres://h/db?sslcert=/c.pem', 'sslcert and sslkey together'],
    ['postgres://h/db?connect_timeout=x', 'a number of seconds'],
    ['postgres://h/db?schema=a&schema=b', 'gives schema twice'],
    ['postgres://h/db?schema=pg_leads', "a schema called 'pg_leads'"],
    ['postgres://h:0/db', 'a port that is not a number'],
    ['postgres://a,b/db?port=1,2,3', 'names 2 hosts and 3 ports'],
    ['postgres://u:%zz@h/db', 'not well percent-encoded in its password'],
    ['postgres://u:1/b@h/db', 'an @ after its hosts'],
    ['postgres://u:a?b@h/db', 'an @ after its hosts'],
    ['postgres://h:x/db', 'names a host that cannot be read'],
    ['mysql://h/db', 'does not start with postgres://'],
  ])('%s is rejected', (url, message) => {
    expect(() => parse(url)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) as string, code: 'config' }),
    );
  });

  test('shows its password nowhere, read or rejected', () => {
    const secret = 'S3cr3tS3cr3t';
    const rest = fc.stringMatching(/^[@:/?%,[\]&=a-z0-9]{0,20}$/);
    fc.assert(
      fc.property(rest, rest, rest, (user, host, tail) => {
        try {
          const location = locationOf(`postgres://${user}:${secret}@${host}/${tail}`);
          expect(JSON.stringify(location.url.password ?? '')).not.toContain(secret);
          if (location.url.password?.reveal() === secret) expect(location.shown).not.toContain(secret);
        } catch (error) {
          if (!(error instanceof LeadsError)) throw error;
          expect(error.message + (error.hint ?? '')).not.toContain(secret);
        }
      }),
    );
  });

  test('is shown without what is secret, or names a file', () => {
    const shown = (url: string): string => locationOf(url).shown;
    expect(
      shown('postgresql://u:pw@h:6000,[::1]/db?sslmode=verify-ca&sslkey=/k&sslcert=/c&schema=other'),
    ).toBe('postgres://u@h:6000,[::1]/db?schema=other');
    expect(shown('postgres://u@/db?host=/run&port=6000')).toBe('postgres://u@/db?host=/run&port=6000');
  });
});

describe('without TLS', () => {
  test.each(['postgres://h/db?sslmode=disable', 'postgres://127.0.0.1,h/db?sslmode=disable'])(
    '%s needs insecure=true',
    (url) => {
      expect(() => locationOf(url)).toThrow(
        expect.objectContaining({
          code: 'config',
          hint: expect.stringContaining('insecure=true') as string,
        }),
      );
      const warnings: string[] = [];
      locationOf(`${url}&insecure=true`, { warnings });
      expect(warnings).toEqual([expect.stringContaining('UNENCRYPTED')]);
    },
  );

  test.each([
    ['postgres://h/db?sslmode=require', 'NOT VERIFIED'],
    ['postgres://h/db?sslmode=require&sslrootcert=/ca.pem', 'sslmode=verify-ca'],
    ['postgres://h/db?sslmode=verify-ca', 'NOT VERIFIED BY NAME'],
  ])('%s is warned of', (url, text) => {
    const warnings: string[] = [];
    locationOf(url, { warnings });
    expect(warnings).toEqual([expect.stringContaining(text)]);
  });

  test.each([
    'postgres://h/db',
    'postgres://h/db?sslmode=verify-full',
    'postgres://h/db?sslmode=require&sslrootcert=system',
    'postgres://localhost/db',
    'postgres://127.0.0.9/db?sslmode=disable',
    'postgres://[::1]/db?sslmode=require',
    'postgres:///db?host=/run',
  ])('%s is not', (url) => {
    const warnings: string[] = [];
    locationOf(url, { warnings });
    expect(warnings).toEqual([]);
  });
});
