import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import { freshHome, leads } from '../../support/run.ts';
import { answering, appInEachTest } from './app.ts';
import { until } from '../../support/until.ts';
import { listenInEachTest } from './support.ts';

const start = listenInEachTest();
const app = appInEachTest();

/** A home whose profile takes other events. */
async function takingHome(): Promise<string> {
  const home = freshHome();
  expect((await leads(['config', 'set', 'webhook.other-events', 'accept'], { home })).exitCode).toBe(0);
  return home;
}

const event = '{"type":"invoice.paid","data":{"amount":5}}';

describe('a genuine delivery without any field of a lead', () => {
  it('is refused, and the setting that takes it is named', async () => {
    const listener = await start(['--format', 'events']);
    expect(await listener.post(event)).toMatchObject({ status: 400, body: { error: 'not_a_lead' } });
    expect(listener.events().at(-1)).toMatchObject({
      verdict: 'rejected',
      detail: expect.stringMatching(
        /^there is no 'id'; .*; the setting webhook.other-events accept/,
      ) as string,
    });
  });

  it('is stored as other, answered 200, and forwarded to nothing', async () => {
    const home = await takingHome();
    const { url, received } = await app(answering(200));
    const listener = await start(['--format', 'events', '--forward-to', url], { home });
    expect(await listener.post(event)).toMatchObject({ status: 200, text: '{"status":"other"}' });
    expect(await listener.post('[]')).toMatchObject({ status: 200 });
    expect(await listener.post('{"id":"a","category":"solar"}')).toMatchObject({ status: 200 });
    await until(() => listener.forwards().length === 1);
    const { stderr } = await listener.stop();
    expect(received).toHaveLength(1);
    const lines = listener.events();
    expect(lines.at(1)).toMatchObject({
      verdict: 'other',
      reason: 'other_event',
      status: 200,
      leadId: null,
      lead: null,
    });
    expect(lines.at(-1)).toMatchObject({ accepted: 1, other: 2, rejected: 0, reasons: {} });
    expect(stderr).toContain('1 accepted, 2 other in');
    const list = await leads(['inbox', 'list', '--verdict', 'other', '--json'], { home });
    expect(JSON.parse(list.stdout)).toMatchObject([
      { verdict: 'other' },
      { verdict: 'other', reason: 'other_event' },
    ]);
    expect((await leads(['inbox', 'export'], { home })).stdout).toBe('{"id":"a","category":"solar"}\n');
    const stats = await leads(['stats', '--inbox', '--json'], { home });
    expect(JSON.parse(stats.stdout)).toMatchObject({
      total: 1,
      inbox: { received: 1, rejected: 0, other: 2 },
    });
  });

  it('is answered 503 where it cannot be kept', async () => {
    const listener = await start([], { home: await takingHome() });
    const database = new Libsql(`${listener.home}/data/inbox.db`);
    database.exec("CREATE TRIGGER full BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'full'); END");
    database.close();
    expect(await listener.post(event)).toMatchObject({ status: 503, body: { error: 'cannot_store' } });
  });

  it.each([
    ['{"category":"solar"}', 'without its id'],
    ['{"event":"ping","by":"Ada <ada@example.com>"}', 'by an e-mail address'],
    ['[{"id":1,"id":2,"category":"solar"}]', 'with two ids'],
  ])('is never one that may be a lead: %s', async (body) => {
    const listener = await start([], { home: await takingHome() });
    expect(await listener.post(body)).toMatchObject({ status: 400, body: { error: 'not_a_lead' } });
  });

  it('is not taken from somebody else, and not what is no JSON', async () => {
    const listener = await start([], { home: await takingHome() });
    expect((await listener.post(event, { 'x-webhook-token': 'wrong' })).status).toBe(401);
    expect((await listener.post('{"type":')).body).toMatchObject({ error: 'not_json' });
    expect((await listener.post('{"id":"a"}')).body).toEqual({ status: 'accepted', id: 'a' });
  });
});
