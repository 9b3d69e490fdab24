import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { createAgent } from '../../../src/http/client/agent.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { freshHome } from '../../support/run.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function secureService(dataDir: string): Promise<number> {
  const { certPem, keyPem } = await ensureAuthority(dataDir, { now: Date.now });
  const server = createServer({ cert: certPem, key: keyPem }, (_, response) => response.end('here'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    server.closeAllConnections();
    return once(server.close(), 'close');
  });
  return (server.address() as AddressInfo).port;
}

async function get(dataDir: string, origin: string): Promise<string> {
  const agent = createAgent({ env: {}, dataDir, timeoutMs: 5000 });
  open.push(() => agent.destroy());
  const answer = await agent.request({ origin, path: '/', method: 'GET' });
  return text(answer.body);
}

describe('connections to https on this machine', () => {
  it('trust our own authority', async () => {
    const dataDir = freshHome();
    const port = await secureService(dataDir);
    expect(await get(dataDir, `https://localhost:${port}`)).toBe('here');
    expect(await get(dataDir, `https://127.0.0.1:${port}`)).toBe('here');
  });

  it('do not trust a certificate of another issuer', async () => {
    const port = await secureService(freshHome());
    await expect(get(freshHome(), `https://localhost:${port}`)).rejects.toThrow(
      /unable to verify|self-signed/,
    );
    const other = freshHome();
    await ensureAuthority(other, { now: Date.now });
    await expect(get(other, `https://localhost:${port}`)).rejects.toThrow(/unable to verify|self-signed/);
  });
});
