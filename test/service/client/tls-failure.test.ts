import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { unsafeConnection } from '../../../src/service/client/network-failure.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { certificateFor, type IssuedCertificate } from '../../support/certificates.ts';
import { leads } from '../../support/run.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const day = 86_400_000;
const now = Date.now();
const usual = certificateFor(['localhost'], now);
const years = 365 * day;

const https = ({ cert, key }: IssuedCertificate, options: ServerOptions = {}): Server =>
  createServer({ cert, key, ...options }, (_, response) => response.end('[]'));

/** `export` uses undici, `list` node's client for its first request. */
async function messages(server: Server, authority?: string): Promise<string[]> {
  servers.push(server);
  server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const home = mkdtempSync(join(tmpdir(), 'leads-tls-'));
  const env: Record<string, string> = {
    LEADS_API_KEY: 'a-key-of-a-test',
    LEADS_BASE_URL: `https://localhost:${(server.address() as AddressInfo).port}`,
  };
  if (authority !== undefined) {
    await ensureAuthority(join(home, 'data'), { now: Date.now });
    writeFileSync(join(home, 'extra.pem'), authority);
    env['NODE_EXTRA_CA_CERTS'] = join(home, 'extra.pem');
  }
  const runs = [await leads(['export'], { env, home }), await leads(['list'], { env, home })];
  return runs.map(({ exitCode, stderr }) => `${exitCode} ${stderr}`);
}

interface Row {
  readonly name: string;
  readonly server: () => Server;
  readonly authority?: string;
  readonly says: string;
  readonly hint?: string;
}

const expired = certificateFor(['localhost'], now - 5 * years);
const early = certificateFor(['localhost'], now + 3 * years);
const other = certificateFor(['other.example', '127.0.0.9'], now);

const rows: readonly Row[] = [
  {
    name: 'a certificate that has expired',
    server: () => https(expired),
    says: 'its certificate has expired',
    hint: 'its operator must renew it',
  },
  {
    name: 'a certificate that is not valid yet',
    server: () => https(early),
    says: 'its certificate is not valid yet',
    hint: "check this machine's clock",
  },
  {
    name: 'a certificate for another host',
    server: () => https(other),
    authority: other.authority,
    says: 'its certificate is for another host: other.example, 127.0.0.9',
    hint: 'check the base URL',
  },
  {
    name: 'a certificate for another host of an authority that is unknown, too',
    server: () => https(other),
    says: 'its certificate is for another host: other.example, 127.0.0.9',
    hint: 'check the base URL',
  },
  {
    name: 'an authority that is unknown',
    server: () => https(usual),
    says: 'its certificate comes from an unknown authority',
    hint: 'NODE_EXTRA_CA_CERTS',
  },
  {
    name: 'a certificate that signs itself',
    server: () => {
      const { cert, key } = usual;
      return https({ cert, key, authority: '' });
    },
    says: 'its certificate comes from an unknown authority',
    hint: 'NODE_EXTRA_CA_CERTS',
  },
  {
    name: 'TLS 1.1 only',
    server: () => https(usual, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    says: 'it speaks neither TLS 1.2 nor TLS 1.3',
  },
  {
    name: 'HTTP/2 only',
    server: () => createSecureServer({ cert: usual.cert, key: usual.key, allowHTTP1: false }),
    authority: usual.authority,
    says: 'it speaks HTTP/2 only, and leads speaks HTTP/1.1',
  },
  {
    name: 'HTTP/2 whatever the client offers',
    server: () =>
      createTls({ cert: usual.cert, key: usual.key }, (socket) => {
        socket.on('error', () => undefined);
        socket.write(Buffer.from('00000c04000000000000030000006400040000ffff', 'hex'));
      }),
    authority: usual.authority,
    says: 'it speaks HTTP/2 only, and leads speaks HTTP/1.1',
  },
  {
    name: 'plain HTTP',
    server: () => createHttp((_, response) => response.end('[]')),
    says: 'the server speaks plain HTTP',
    hint: 'use http://localhost',
  },
];

describe('a failure of TLS names its own cause', () => {
  it.each(rows)('$name', async ({ server, authority, says, hint }) => {
    for (const message of await messages(server(), authority)) {
      expect(message).toMatch(/^5 error: cannot reach https:\/\/localhost:\d+/);
      expect(message).toContain(says);
      if (hint === undefined) expect(message).not.toContain('hint:');
      else expect(message).toContain(hint);
      if (hint !== 'NODE_EXTRA_CA_CERTS') expect(message).not.toContain('NODE_EXTRA_CA_CERTS');
      expect(message).not.toMatch(/SSL routines|openssl|EPROTO/);
    }
  });

  it.each([
    [
      'ERR_SSL_UNSUPPORTED_PROTOCOL',
      'A0:error:0A000102:SSL routines:ssl_choose_client_version:unsupported protocol:x.c:1:',
      'it speaks neither TLS 1.2 nor TLS 1.3',
    ],
    [
      'EPROTO',
      'write EPROTO A0:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:x.c:1:',
      'it speaks neither TLS 1.2 nor TLS 1.3',
    ],
    [
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      'A0:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:x.c:1:',
      'it asks for a certificate of the client',
    ],
    [
      'EPROTO',
      'write EPROTO A0:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:x.c:1:',
      'it refused the TLS handshake (sslv3 alert handshake failure)',
    ],
    ['CERT_REVOKED', 'certificate revoked', 'certificate revoked'],
  ])('%s is read in the words of OpenSSL', (code, message, says) => {
    const failure = unsafeConnection('https://localhost', code, { message });
    expect(failure?.message).toContain(says);
    expect(failure?.message).not.toContain('SSL routines');
  });

  it('leaves other failures alone', () => {
    const failed = { message: 'connect ECONNREFUSED 127.0.0.1:1' };
    expect(unsafeConnection('https://localhost', 'ECONNREFUSED', failed)).toBeUndefined();
  });
});
