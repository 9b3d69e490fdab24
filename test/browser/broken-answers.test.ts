import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { Api } from '../../src/inspect/web/state/api.ts';
import { openServer } from '../support/open-server.ts';

it('an answer that breaks off is no connection, like none at all', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"rows": [');
    setImmediate(() => response.destroy());
  });
  const opened = await openServer(server);
  onTestFinished(opened.close);
  const url = `${opened.url}/`;
  const api = new Api('token');
  await expect(api.get(url)).rejects.toMatchObject({ name: 'Problem', code: 'unreachable' });
  await expect(api.post(url, {})).rejects.toMatchObject({ name: 'Problem', code: 'unreachable' });
  await expect(api.blob(url)).rejects.toMatchObject({ name: 'Problem', code: 'unreachable' });
});
