import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type App, answering, startApp } from './app.ts';
import { type Listener, listen, token } from './support.ts';
import { until } from '../../support/until.ts';

const open: (() => Promise<unknown>)[] = [];

async function start(...args: Parameters<typeof listen>): Promise<Listener> {
  const listener = await listen(...args);
  open.push(() => listener.stop());
  return listener;
}

async function app(...args: Parameters<typeof startApp>): Promise<App> {
  const started = await startApp(...args);
  open.push(() => started.close());
  return started;
}

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const scratch = (): string => mkdtempSync(join(tmpdir(), 'leads-test-'));

describe('--forward-to', () => {
  it('passes the exact bytes and headers on, but what belongs to the hop', async () => {
    const behind = await app(answering(204));
    const listener = await start(['--forward-to', `${behind.url}/hook?a=1`]);
    const body = '{ "id" : "a",\n "name":"\\u00e9 ü \u2028" }';
    const headers = {
      'X-Webhook-Token': token,
      'X-Many': ['1', '2'],
      Connection: 'close, X-Hop',
      'X-Hop': 'gone',
      'User-Agent': 'Service/1.0',
    };
    expect((await listener.post(body, headers)).body).toEqual({ status: 'accepted', id: 'a' });
    const [got] = behind.received;
    expect(got?.url).toBe('/hook?a=1');
    expect(got?.body.toString('utf8')).toBe(body);
    const names = got?.rawHeaders.filter((_, i) => i % 2 === 0) ?? [];
    expect(names.filter((name) => name === 'X-Many')).toHaveLength(2);
    expect(names).toEqual(expect.arrayContaining(['X-Webhook-Token', 'User-Agent']));
    expect(names.join()).not.toMatch(/x-hop/i);
    expect(got?.rawHeaders.join('\n')).toContain('Service/1.0');
  });

  it('answers 502 until the app takes the lead, and only then knows it as a duplicate', async () => {
    const behind = await app((_, response, count) => answering(count < 3 ? 500 : 200)(_, response));
    const listener = await start(['--forward-to', behind.url, '--format', 'events']);
    const answers = [];
    for (let i = 0; i < 4; i += 1) answers.push(await listener.post({ id: 'a' }));
    expect(answers.map(({ status }) => status)).toEqual([502, 502, 200, 200]);
    expect(answers.map(({ body }) => body['status'])).toEqual([
      undefined,
      undefined,
      'accepted',
      'duplicate',
    ]);
    expect(behind.received).toHaveLength(3);
    await listener.stop();
    const shown = listener.events().filter((event) => event['type'] === 'delivery');
    expect(shown.map((event) => event['verdict'])).toEqual(['pending', 'pending', 'accepted', 'duplicate']);
    expect(shown[0]).toMatchObject({ status: 502, handed: [{ to: 'forward', ok: false, answer: '500' }] });
  });

  it('says that the app is down, and forwards again when it is up', async () => {
    const down = await startApp(answering(200));
    const { url } = down;
    await down.close();
    const listener = await start(['--forward-to', url]);
    expect((await listener.post({ id: 'a' })).status).toBe(502);
    await until(() => listener.stdout.text().includes('forward:'));
    expect(listener.stdout.text()).toMatch(/pending .*answered 502/);
    const up = await app(answering(200), Number(new URL(url).port));
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    expect(up.received).toHaveLength(1);
  });

  it('says when the other of http:// and https:// is spoken there', async () => {
    const behind = await app(answering(200));
    const secure = await start(['--token', token]);
    for (const [url, answer] of [
      [behind.url.replace('http:', 'https:'), 'the app speaks plain HTTP: use http://'],
      [secure.url.replace('https:', 'http:'), 'connection closed without an answer: is it HTTPS?'],
    ] as const) {
      const listener = await start(['--forward-to', url, '--format', 'events']);
      expect((await listener.post({ id: 'a' })).status).toBe(502);
      await listener.stop();
      expect(listener.events()[1]).toMatchObject({ handed: [{ answer }] });
    }
  });

  it('has one forward in flight per id, whose fate every delivery of it shares', async () => {
    let release: () => void = () => undefined;
    const behind = await app((_, response) => {
      release = () => response.writeHead(200).end();
    });
    const listener = await start(['--forward-to', behind.url]);
    const all = Array.from({ length: 10 }, () => listener.post({ id: 'a' }));
    await until(() => behind.received.length === 1);
    release();
    const kinds = (await Promise.all(all)).map(({ status, body }) => `${status} ${String(body['status'])}`);
    expect(kinds.sort()).toEqual(['200 accepted', ...Array.from({ length: 9 }, () => '200 duplicate')]);
    expect(behind.received).toHaveLength(1);
  });

  it('follows no redirect', async () => {
    const other = await app(answering(200));
    const behind = await app((_, response) => response.writeHead(307, { location: other.url }).end());
    const listener = await start(['--forward-to', behind.url]);
    expect((await listener.post({ id: 'a' })).status).toBe(502);
    expect(other.received).toHaveLength(0);
  });

  it('answers 200 regardless with --forward-best-effort', async () => {
    const behind = await app(answering(500, 'out of order\u001b[2J'));
    const listener = await start(['--forward-to', behind.url, '--forward-best-effort', '--show-answer']);
    expect((await listener.post({ id: 'a' })).body).toEqual({ status: 'accepted', id: 'a' });
    expect((await listener.post({ id: 'a' })).body).toEqual({ status: 'duplicate', id: 'a' });
    await until(() => listener.stdout.text().includes('out of order'));
    expect(listener.stdout.text()).not.toContain('\u001b');
    expect(behind.received).toHaveLength(1);
  });

  it('forwards a lead that an earlier run only stored', async () => {
    const failing = await app(answering(503));
    const first = await start(['--forward-to', failing.url]);
    expect((await first.post({ id: 'a' })).status).toBe(502);
    await first.stop();
    const behind = await app(answering(200));
    const second = await start(['--forward-to', behind.url], { home: first.home });
    expect((await second.post({ id: 'a' })).status).toBe(200);
    expect(behind.received).toHaveLength(1);
  });

  it('gives up what is in flight when the time to drain is over', async () => {
    const behind = await app(() => undefined);
    const listener = await start(['--forward-to', behind.url]);
    const lost = listener.post({ id: 'a' }).catch((error: unknown) => error);
    await until(() => behind.received.length === 1);
    const began = performance.now();
    expect((await listener.stop()).exitCode).toBe(0);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(await lost).toBeInstanceOf(Error);
  });
});

describe('--exec', () => {
  it('runs a command with the raw lead on stdin and none of our settings', async () => {
    const file = join(scratch(), 'seen');
    const listener = await start(['--exec', `cat > '${file}'; env >> '${file}'; echo said`], {
      env: { LEADS_WEBHOOK_TOKEN: 'very-secret', PATH: process.env['PATH'] ?? '', OTHER: 'kept' },
    });
    const body = '{ "id": "a" }';
    expect((await listener.post(body)).status).toBe(200);
    const seen = readFileSync(file, 'utf8');
    expect(seen.startsWith(body)).toBe(true);
    expect(seen).toContain('OTHER=kept');
    expect(seen).not.toContain('LEADS_');
    expect(listener.stderr.text()).toContain('| said');
    expect(listener.stdout.text()).not.toContain('| said');
  });

  it('answers 502 while the command fails', async () => {
    const listener = await start(['--exec', 'exit 3', '--format', 'events']);
    expect((await listener.post({ id: 'a' })).status).toBe(502);
    await until(() => listener.events().length === 2);
    expect(listener.events()[1]).toMatchObject({ handed: [{ to: 'exec', ok: false, answer: 'exit 3' }] });
  });
});

describe('--exec, with what a command leaves behind', () => {
  it('ends all of a command that takes too long', async () => {
    const file = join(scratch(), 'late');
    const command = `(sleep 3; echo > '${file}') | cat`;
    const listener = await start(['--exec', command, '--timeout', '300ms', '--format', 'events']);
    const began = performance.now();
    expect((await listener.post({ id: 'a' })).status).toBe(502);
    expect(performance.now() - began).toBeLessThan(2500);
    await until(() => listener.events().length === 2);
    expect(listener.events()[1]).toMatchObject({ handed: [{ ok: false, answer: 'ended by SIGKILL' }] });
  });

  it('does not wait for a child that the command left running', async () => {
    const listener = await start(['--exec', 'sleep 5 & echo said']);
    const began = performance.now();
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(4000);
    expect(listener.stderr.text()).toContain('| said');
  });

  it('gives up a lead that waits too long for its turn', async () => {
    const listener = await start(['--exec', 'sleep 1', '--timeout', '2500ms', '--format', 'events']);
    const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => listener.post({ id: `${i}` })));
    const late = answers.filter(({ status }) => status === 502);
    expect(late.length).toBeGreaterThan(0);
    expect(late.length).toBeLessThan(16);
    const shown = JSON.stringify(listener.events());
    expect(shown).toContain('others were still running');
  });
});

describe('--output', () => {
  it('tells what failed first where the file cannot be cut back either', async () => {
    const file = join(scratch(), 'full');
    symlinkSync('/dev/full', file);
    const listener = await start(['--output', file]);
    for (const id of ['a', 'b']) expect((await listener.post({ id })).status).toBe(502);
    await listener.stop();
    const failures = listener.stdout.text().match(/output: .*/g) ?? [];
    expect(failures).toHaveLength(2);
    for (const failure of failures) expect(failure).toContain(`${file}: no space left on the device`);
  });

  it('appends accepted leads once each, over runs, and mends a torn last line', async () => {
    const file = join(scratch(), 'deep', 'leads.ndjson');
    const first = await start(['--output', file]);
    await Promise.all(['a', 'b', 'a'].map((id) => first.post(`{ "id": "${id}" }`)));
    await first.stop();
    const before = readFileSync(file, 'utf8');
    expect(before.split('\n').sort()).toEqual(['', '{"id":"a"}', '{"id":"b"}']);
    writeFileSync(file, `${before}{"id":"tor`);
    const second = await start(['--output', file], { home: first.home });
    await Promise.all(['a', 'c'].map((id) => second.post({ id })));
    expect(readFileSync(file, 'utf8')).toBe(`${before}{"id":"c"}\n`);
  });

  it('is refused while another receiver writes to it', async () => {
    const file = join(scratch(), 'leads.ndjson');
    await start(['--output', file]);
    await expect(listen(['--output', file])).rejects.toThrow('in use');
  });
});
