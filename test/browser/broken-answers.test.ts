import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Api } from '../../src/inspect/web/state/api.ts';

it('an answer that breaks off is no connection, like none at all', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"rows": [');
    setImmediate(() => response.destroy());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const api = new Api('token');
  await expect(api.get(url)).rejects.toMatchObject({ name: 'Problem', code: 'unreachable' });
  await expect(api.post(url, {})).rejects.toMatchObject({ name: 'Problem', code: 'unreachable' });
  await expect(api.blob(url)).rejects.toMatchObject({ name: 'Problem', code: 'unreachable' });
});
