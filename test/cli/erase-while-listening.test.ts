import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { appInEachTest } from '../commands/listen/app.ts';
import { binary, environment, type ListenProcess, listenProcess } from '../support/listen-process.ts';
import { until } from '../support/until.ts';
import { requireValidJson } from '../support/valid-json.ts';

const app = appInEachTest();
let listener: ListenProcess | undefined;
afterEach(() => listener?.end('SIGKILL'));

const personOf = (id: string) => ({
  id,
  category: 'home',
  contact: { name: 'Ada Lovelace', email: `${id}@example.com`, phone: '+44 20 7946 0958' },
});

describe('leads inbox erase beside a running leads listen', () => {
  it('erases under load, and the receiver neither stores nor forwards the lead again', async () => {
    const { url, received } = await app(({ body }, response) =>
      response.writeHead(body.includes('ada@example.com') ? 500 : 200).end(),
    );
    listener = await listenProcess(
      ['--http', '--token', 'secret', '--port', '0', '--format', 'events', '--forward-to', url],
      {},
    );
    const { home, url: hook } = listener;
    const post = async (body: unknown): Promise<[number, unknown]> => {
      const headers = { 'x-webhook-token': 'secret', 'content-type': 'application/json' };
      const answer = await fetch(hook, { method: 'POST', headers, body: JSON.stringify(body) });
      return [answer.status, await answer.json()];
    };
    expect((await post(personOf('ada')))[0]).toBe(200);
    await until(() => received.length === 1);
    const over = new AbortController();
    let sent = 0;
    const load = (async () => {
      for (; !over.signal.aborted; sent += 1) {
        const id = `other-${sent}`;
        expect(await post({ id, filler: 'x'.repeat(sent % 3000) })).toEqual([
          200,
          { status: 'accepted', id },
        ]);
      }
    })();
    await until(() => sent > 20);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [binary, 'inbox', 'erase', '--email', 'ADA@example.com', '--yes', '--json'],
      { env: { PATH: process.env['PATH'], ...environment(home) } },
    );
    requireValidJson(['inbox', 'erase', '--json'], stdout, '');
    over.abort();
    await load;
    received.length = 0;
    expect(JSON.parse(stdout)).toMatchObject({
      erased: { leads: 1, deliveries: 1, waiting: 1 },
      remains: null,
    });
    const again = await post(personOf('ada'));
    expect(again).toEqual([200, { status: 'duplicate', id: 'ada' }]);
    expect((await post([personOf('ada'), personOf('bob')]))[0]).toBe(200);
    await until(() => received.some(({ body }) => body.includes('"bob"')));
    expect(await listener.end('SIGINT')).toBe(0);
    const bodies = received.map(({ body }) => body.toString('utf8'));
    expect(bodies.filter((body) => body.includes('ada'))).toEqual([]);
    expect(JSON.parse(bodies.at(-1) ?? '')).toEqual([personOf('bob')]);
    const data = join(home, 'data');
    for (const file of readdirSync(data).filter((name) => name.startsWith('inbox.db'))) {
      expect(readFileSync(join(data, file)).includes('ada@example.com')).toBe(false);
    }
    const events = listener
      .stdout()
      .trimEnd()
      .split('\n')
      .map(
        (line) => JSON.parse(line) as { leadId?: string; source?: string; verdict?: string; lead?: unknown },
      );
    expect(
      events
        .filter(({ leadId, source }) => leadId === 'ada' && source === 'push')
        .map(({ verdict, lead }) => [verdict, lead]),
    ).toEqual([
      ['accepted', personOf('ada')],
      ['duplicate', null],
      ['duplicate', null],
    ]);
  });
});
