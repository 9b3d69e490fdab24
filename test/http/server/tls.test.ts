import { execFile, execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, getCiphers } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { issueServerCertificate as issueServer } from '../../../src/tls/issue-certificate.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { startReceiver } from '../../support/receiver.ts';
import { openWire, post } from '../../support/wire.ts';

const tls = await ensureAuthority(mkdtempSync(join(tmpdir(), 'leads-tls-')), { now: Date.now });
const run = promisify(execFile);

const has = (program: string, flag = '--version'): boolean => {
  try {
    execFileSync(program, [flag], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** The error code of a handshake that fails, or what was agreed on. */
function handshake(port: number, options: object): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: tls.caPem, ...options });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(`${error.code ?? ''} ${error.message}`));
    socket.once('secureConnect', () => {
      resolve(`${socket.getProtocol() ?? ''} ${String(socket.alpnProtocol)}`);
      socket.destroy();
    });
  });
}

describe('over TLS', () => {
  test('versions 1.3 and 1.2 are accepted, 1.1 is not', async () => {
    const { port, handshakes } = await startReceiver({ tls });
    expect(await handshake(port, {})).toBe('TLSv1.3 false');
    expect(await handshake(port, { maxVersion: 'TLSv1.2' })).toBe('TLSv1.2 false');
    const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await handshake(port, old)).toMatch(/ALERT_PROTOCOL_VERSION|NO_PROTOCOLS_AVAILABLE/);
    const kinds = (): string[] => handshakes.map(({ problem }) => problem.kind);
    await expect.poll(kinds).toContain('client-speaks-old-tls');
  });

  test('authenticated encryption with forward secrecy is accepted over TLS 1.2, CBC is not', async () => {
    const receiver = await startReceiver({ tls });
    const over12 = (ciphers: string): Promise<string> =>
      handshake(receiver.port, { maxVersion: 'TLSv1.2', ciphers });
    const suites = getCiphers()
      .map((name) => name.toUpperCase())
      .filter((name) => /^(ECDHE|DHE|AES|PSK)/.test(name) && !/PSK/.test(name));
    expect(suites).toContain('ECDHE-ECDSA-AES128-SHA256');
    // A renewed certificate must not bring the others back.
    for (let i = 0; i < 2; i += 1) {
      for (const suite of suites) {
        const isAead = /^ECDHE-ECDSA-.*(GCM|POLY1305)/.test(suite);
        expect(`${suite}: ${await over12(suite)}`).toMatch(isAead ? /TLSv1.2/ : /: E[\w/]+ /);
      }
      receiver.renew(tls);
    }
  });

  test('HTTP/1.1 is negotiated, a client with HTTP/2 only is rejected', async () => {
    const { port, handshakes } = await startReceiver({ tls });
    expect(await handshake(port, { ALPNProtocols: ['h2', 'http/1.1'] })).toBe('TLSv1.3 http/1.1');
    expect(await handshake(port, { ALPNProtocols: ['h2'] })).toMatch(/NO_APPLICATION_PROTOCOL/);
    const kinds = (): string[] => handshakes.map(({ problem }) => problem.kind);
    await expect.poll(kinds).toContain('client-speaks-no-http1');
  });

  test('a client that does not trust the certificate is reported as such', async () => {
    const { port, handshakes } = await startReceiver({ tls });
    expect(await handshake(port, { ca: [] })).toContain('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    await expect
      .poll(() => handshakes)
      .toMatchObject([{ remote: '127.0.0.1', problem: { kind: 'client-left-handshake' } }]);
  });

  test.runIf(has('curl'))('and so is one that says so', async () => {
    const { url, handshakes } = await startReceiver({ tls });
    await expect(run('curl', ['--silent', '--noproxy', '*', url])).rejects.toMatchObject({ code: 60 });
    await expect
      .poll(() => handshakes)
      .toMatchObject([{ remote: '127.0.0.1', problem: { kind: 'client-distrusts-certificate' } }]);
  });

  test('a client that disconnects after a delivery is not reported as one that does not trust the certificate', async () => {
    const { port, handshakes, rejected } = await startReceiver({ tls });
    const wire = await openWire(port, tls.caPem);
    wire.send(post('1', ['Connection: close']));
    await wire.closed();
    expect([...handshakes, ...rejected]).toEqual([]);
  });

  test('plain HTTP is rejected and reported as such', async () => {
    const { port, handshakes, deliveries } = await startReceiver({ tls });
    const wire = await openWire(port);
    wire.send(post('1'));
    await wire.closed();
    expect(deliveries).toEqual([]);
    await expect.poll(() => handshakes).toMatchObject([{ problem: { kind: 'client-speaks-no-tls' } }]);
  });
});

describe('another TLS client', () => {
  test.runIf(has('curl')).each(['localhost', '127.0.0.1', hostname()])('curl, for %s', async (host) => {
    const receiver = await startReceiver({ tls });
    const { stdout } = await run('curl', [
      ...['--silent', '--show-error', '--cacert', tls.caPath, '--noproxy', '*'],
      ...['--resolve', `${hostname()}:${receiver.port}:127.0.0.1`],
      ...['--data', '{"id":"l-1"}', `https://${host}:${receiver.port}/`],
    ]);
    expect(stdout).toBe('{"status":"accepted","id":"l-1"}');
  });

  test.runIf(has('python3'))('python, strictly', async () => {
    const receiver = await startReceiver({ tls });
    const script = [
      'import http.client, ssl, sys',
      'context = ssl.create_default_context(cafile=sys.argv[1])',
      'context.verify_flags |= ssl.VERIFY_X509_STRICT',
      'c = http.client.HTTPSConnection("localhost", int(sys.argv[2]), context=context)',
      'c.request("POST", "/", "{}")',
      'print(c.getresponse().status)',
    ].join('\n');
    const { stdout } = await run('python3', ['-c', script, tls.caPath, String(receiver.port)]);
    expect(stdout.trim()).toBe('200');
  });

  test('does not trust a certificate of the authority for another name', async () => {
    const key = createPrivateKey(readFileSync(join(tls.caPath, '..', 'ca-key.pem')));
    const authority = { pem: tls.caPem, certificate: new X509Certificate(tls.caPem), key };
    const forged = issueServer(authority, ['localhost', 'example.com'], Date.now());
    const { port } = await startReceiver({ tls: forged });
    expect(await handshake(port, {})).toContain('permitted subtree violation');
    const foreignIp = issueServer(authority, ['localhost', '10.0.0.1'], Date.now());
    const other = await startReceiver({ tls: foreignIp });
    expect(await handshake(other.port, {})).toContain('permitted subtree violation');
  });

  test.runIf(has('openssl', 'version'))('openssl finds nothing odd in it', async () => {
    const server = join(mkdtempSync(join(tmpdir(), 'leads-tls-')), 'server.pem');
    writeFileSync(server, tls.certPem);
    const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', 'localhost'];
    const { stdout } = await run('openssl', [...args, '-CAfile', tls.caPath, server]);
    expect(stdout).toBe(`${server}: OK\n`);
  });
});
