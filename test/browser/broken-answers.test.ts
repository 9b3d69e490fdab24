import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { Api } from '../../src/inspect/web/state/api.ts';
import { openPort } from '../support/open-port.ts';

it('an answer that breaks off is no connection, like none at all', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"rows": [');
    setImmediate(() => response.destroy());
  });
  const url = `http://127.0.0.1:${await openPort(server)}/`;
  const api = new Api('token');
  await expect(api.get(url)).rejects.toMatchObject({ name: 'Problem', code: 'unreachable' });
  await expect(api.post(url, {})).rejects.toMatchObject({ name: 'Problem', code: 'unreachable' });
});
