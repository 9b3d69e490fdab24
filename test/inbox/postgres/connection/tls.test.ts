import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSession } from '../../../../src/inbox/postgres/open-session.ts';
import { issueAuthority, issueServerCertificate } from '../../../../src/tls/issue-certificate.ts';
import { urlOf } from '../../../support/postgres/address.ts';
import { Cluster } from '../../../support/postgres/cluster.ts';
import { sharedPostgres } from '../../../support/postgres/shared.ts';
import { Query } from '../../../../src/inbox/sql/statement.ts';
import { locationOf } from '../location.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-database-tls-'));

function authority(name: string) {
  const pair = issueAuthority(['db.example'], Date.now());
  const path = join(directory, name);
  writeFileSync(path, pair.certPem);
  return { path, certificate: new X509Certificate(pair.certPem), key: createPrivateKey(pair.keyPem) };
}

const ours = authority('ours.pem');
const other = authority('other.pem');
const { certPem, keyPem } = issueServerCertificate(ours, ['127.0.0.1', 'db.example'], Date.now());
// Asked first: in CI a platform without PostgreSQL is a failure.
const cluster =
  (await sharedPostgres()) && (await Cluster.start({ tls: { certificate: certPem, key: keyPem } }));
afterAll(() => cluster?.stop());

const reach = async (host: string, parameters: Record<string, string>): Promise<unknown> => {
  if (cluster === undefined) throw new Error('no database');
  const url = urlOf(cluster.address, { host, parameters });
  const session = await openSession(locationOf(url));
  const [[row] = []] = await session.run([
    new Query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'),
  ]);
  await session.close();
  return row?.['ssl'];
};

test.skipIf(cluster === undefined).each([
  ['127.0.0.1', { sslmode: 'verify-full', sslrootcert: ours.path }],
  ['localhost', { sslmode: 'verify-ca', sslrootcert: ours.path }],
  ['localhost', { sslmode: 'require' }],
])('%s with %o is encrypted', async (host, parameters) => {
  expect(await reach(host, parameters)).toBe(true);
});

test.skipIf(cluster === undefined).each([
  [
    'another name',
    'localhost',
    { sslmode: 'verify-full', sslrootcert: ours.path },
    'a certificate for another name',
  ],
  [
    'another authority',
    '127.0.0.1',
    { sslmode: 'verify-full', sslrootcert: other.path },
    'an authority that is not known',
  ],
  ['no authority', '127.0.0.1', { sslmode: 'verify-full' }, 'an authority that is not known'],
  [
    'another authority',
    '127.0.0.1',
    { sslmode: 'verify-ca', sslrootcert: other.path },
    'an authority that is not known',
  ],
  [
    'another authority',
    '127.0.0.1',
    { sslmode: 'require', sslrootcert: other.path },
    'an authority that is not known',
  ],
])('a certificate of %s for %s with %o is rejected', async (_fault, host, parameters, message) => {
  await expect(reach(host, parameters)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining(message) as string,
  });
});
