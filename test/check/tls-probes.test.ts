import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect, type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { createPrivateKey } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { type Authority, issueAuthority, issueServerCertificate } from '../../src/tls/issue-certificate.ts';
import { freshHome } from '../support/run.ts';
import { startReceiver } from './obedient-receiver.ts';
import { check, type CheckRun } from './support.ts';

const token = 'Token-of-the-Tests';
const dayMs = 86_400_000;

function authority(): Authority & { readonly file: string } {
  const { certPem, keyPem } = issueAuthority(['localhost', 'other.test'], Date.now() - 500 * dayMs);
  const file = join(freshHome(), 'ca.pem');
  writeFileSync(file, certPem);
  return { pem: certPem, certificate: new X509Certificate(certPem), key: createPrivateKey(keyPem), file };
}

const own = authority();

/** Issued as if today were so many days ago. */
const certificate = (names: readonly string[], daysAgo = 0) => {
  const { certPem: cert, keyPem: key } = issueServerCertificate(own, names, Date.now() - daysAgo * dayMs);
  return { cert, key };
};

async function tlsResults(
  options: object,
  flags: readonly string[] = ['--ca', own.file],
): Promise<Record<string, string>> {
  const { url } = await startReceiver('token', token, undefined, options);
  const run: CheckRun = await check([url, '--token', token, '--only', 'tls', ...flags]);
  return Object.fromEntries(run.probes.map(({ name, result, detail }) => [name, `${result}: ${detail}`]));
}

test('a receiver that serves TLS as it should passes', async () => {
  const results = await tlsResults(certificate(['localhost']));
  expect(Object.values(results).map((text) => text.split(':')[0])).toEqual(Array(3).fill('pass'));
});

test('TLS 1.0 and 1.1 are found', async () => {
  const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' };
  expect(await tlsResults({ ...certificate(['localhost']), ...old })).toMatchObject({
    'tls.version': 'fail: it speaks TLSv1',
  });
});

test('a certificate that ends soon is warned of', async () => {
  const valid = certificate(['localhost']);
  const { validTo } = new X509Certificate(valid.cert);
  const lifeDays = Math.floor((Date.parse(validTo) - Date.now()) / dayMs);
  expect((await tlsResults(certificate(['localhost'], lifeDays - 5)))['tls.certificate']).toMatch(
    /^warn: issued by .*, [45] days are left$/,
  );
});

test('with --insecure, a certificate that nobody trusts, and for another name, is only warned of', async () => {
  expect(await tlsResults(certificate(['other.test']), ['--insecure'])).toMatchObject({
    'tls.certificate': expect.stringMatching(
      /^warn: it is not trusted \(\w+\) and is for DNS:other.test$/,
    ) as string,
  });
});

test('plain HTTP that is answered beside TLS is found', async () => {
  const { url } = await startReceiver('token', token, undefined, certificate(['localhost']));
  const plain = await startReceiver('token', token, () => ({
    answer: (response) => response.writeHead(200).end(),
  }));
  // The first byte of a TLS connection is 22.
  const front = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes: Buffer) => {
      const { port } = new URL(bytes[0] === 22 ? url : plain.url);
      const behind = connect(Number(port), 'localhost').on('error', () => undefined);
      behind.write(bytes);
      socket.pipe(behind).pipe(socket);
    });
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void front.close());
  const both = `https://localhost:${(front.address() as AddressInfo).port}/hook`;
  const run = await check([both, '--token', token, '--ca', own.file, '--only', 'tls']);
  expect(run.failed).toEqual(['tls.plain-http']);
  expect(run.exitCode).toBe(0);
});
