import { once } from 'node:events';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureAuthority, type LocalCertificate } from '../../src/tls/local-authority.ts';
import { startProgram } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';

const key = 'sk_live_through_the_proxy';
const host = hostname().toLowerCase();

let authority: LocalCertificate;
let port = 0;
let proxyPort = 0;
const throughProxy: string[] = [];
const stop: (() => void)[] = [];

beforeAll(async () => {
  authority = await ensureAuthority(freshHome(), { now: Date.now });
  const service = createServer({ cert: authority.certPem, key: authority.keyPem }, (request, response) => {
    const known = request.headers.authorization === `Bearer ${key}`;
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
    response.end(known ? '[{"id":"a"}]' : '{"error":"unauthorized"}');
  }).listen(0, '127.0.0.1');
  const proxy = createProxy().listen(0, '127.0.0.1');
  proxy.on('connect', (request, client, head) => {
    throughProxy.push(`CONNECT ${request.url ?? ''}`, Buffer.from(head).toString('latin1'));
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    client.on('data', (chunk: Buffer) => throughProxy.push(chunk.toString('latin1')));
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
  });
  await Promise.all([once(service, 'listening'), once(proxy, 'listening')]);
  port = (service.address() as AddressInfo).port;
  proxyPort = (proxy.address() as AddressInfo).port;
  for (const server of [service, proxy]) {
    stop.push(() => {
      server.closeAllConnections();
      server.close();
    });
  }
});
afterAll(() => {
  for (const close of stop) close();
});

async function run(env: Record<string, string>) {
  const service = { LEADS_API_KEY: key, LEADS_BASE_URL: `https://${host}:${port}` };
  const argv = ['list', '--format', 'ndjson', '--retries', '0', '--verbose'];
  const program = startProgram(argv, freshHome(), { ...service, ...env });
  const { exitCode } = await program.done;
  return { code: exitCode, stdout: program.stdout(), stderr: program.stderr() };
}

describe('the real program', () => {
  it('goes through the proxy of the environment, with an authority of the environment, the key unseen', async () => {
    const proxy = `http://127.0.0.1:${proxyPort}`;
    const ended = await run({ HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: authority.caPath });
    expect(ended).toMatchObject({ code: 0, stdout: '{"id":"a"}\n' });
    expect(throughProxy[0]).toBe(`CONNECT ${host}:${port}`);
    expect(throughProxy.join('')).not.toContain(key);
    expect(ended.stderr).not.toContain(key);
  });

  it('does not send the key to a service that nobody vouches for', async () => {
    const ended = await run({ https_proxy: `http://127.0.0.1:${proxyPort}` });
    expect(ended.code).toBe(5);
    expect(ended.stderr).toContain(`cannot reach https://${host}:${port} safely`);
    expect(ended.stderr).toContain('NODE_EXTRA_CA_CERTS');
  });
});
