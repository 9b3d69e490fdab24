import { describe, expect, it } from 'vitest';
import { openWire, post, statuses } from '../../support/wire.ts';
import { listenInEachTest } from './support.ts';

const start = listenInEachTest();

const json = ['Content-Type: application/json'];

/** What a request with exactly this text is answered. */
async function answerTo(url: string, request: string): Promise<string> {
  const wire = await openWire(Number(new URL(url).port));
  wire.send(request);
  const text = await wire.until(/\r\n\r\n[^]*[}>]\n?$/);
  wire.socket.destroy();
  return text;
}

const postTo = (host: string, ...headers: string[]): string =>
  post('{"id":"a"}', [...json, ...headers]).replace('Host: localhost', `Host: ${host}`);

describe('with --http --no-verify, a request', () => {
  it.each(['localhost:8443', '127.0.0.1:1', '[::1]', 'app.localhost', 'LOCALHOST'])(
    'for %s is taken',
    async (host) => {
      const listener = await start(['--http', '--no-verify']);
      expect(statuses(await answerTo(listener.url, postTo(host)))).toEqual([200]);
    },
  );

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '192.0.2.1:8443'])(
    'for %s is answered 403, and stderr says what a tunnel must send',
    async (host) => {
      const listener = await start(['--http', '--no-verify', '--format', 'events']);
      const text = await answerTo(listener.url, postTo(host));
      expect(text).toMatch(/^HTTP\/1\.1 403 [^]*"error":"foreign_host"/);
      await listener.stop();
      expect(listener.stderr.text()).toContain(`'${host}' was answered 403`);
      expect(listener.stderr.text()).toContain('it must send the host localhost');
      expect(listener.events()[1]).toMatchObject({ reason: 'foreign_host', status: 403, leadId: null });
    },
  );

  it.each(['http://evil.example', 'null', 'https://localhost.evil.example'])(
    'from a page of %s is answered 403',
    async (origin) => {
      const listener = await start(['--http', '--no-verify']);
      const text = await answerTo(listener.url, postTo('localhost', `Origin: ${origin}`));
      expect(statuses(text)).toEqual([403]);
    },
  );

  it('from a page of this machine is taken', async () => {
    const listener = await start(['--http', '--no-verify']);
    const text = await answerTo(listener.url, postTo('localhost', 'Origin: http://localhost:3000'));
    expect(statuses(text)).toEqual([200]);
  });

  it('is named at the start, where a tunnel is proposed', async () => {
    const listener = await start(['--http', '--no-verify']);
    expect(listener.stderr.text()).toMatch(
      /tunnel .*--http-host-header localhost, .*--host-header localhost/,
    );
  });

  it('with a foreign target is answered 403 whatever its Host says', async () => {
    const listener = await start(['--http', '--no-verify']);
    const request = postTo('localhost').replace('POST /', 'POST http://evil.example/');
    expect(statuses(await answerTo(listener.url, request))).toEqual([403]);
  });
});

it('takes any host where a token or a certificate is the guard', async () => {
  const listener = await start(['--http']);
  const request = postTo('tunnel.example', 'x-webhook-token: token-of-the-tests');
  expect(statuses(await answerTo(listener.url, request))).toEqual([200]);
});
