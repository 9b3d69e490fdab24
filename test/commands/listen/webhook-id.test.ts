import { describe, expect, it } from 'vitest';
import { homeWith, leads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { answering, appInEachTest, startApp } from './app.ts';
import { listenInEachTest } from './support.ts';

const start = listenInEachTest();
const app = appInEachTest();
const byUuid = (uuid: string, more = ''): string => `{"uuid":"${uuid}","category":"solar"${more}}`;
const byUuidSetting = { webhook: { id: 'uuid' } };
const byId = (id: string): string => `{"id":"${id}","category":"solar"}`;

describe('the id of a delivered lead', () => {
  it.each([
    ['webhook.id', byUuidSetting],
    ['api.id, where webhook.id is not set', { api: { id: 'uuid' } }],
    ['webhook.id and not api.id', { ...byUuidSetting, api: { id: '_id' } }],
  ])('is the field that is named by %s', async (_, settings) => {
    const listener = await start(['--format', 'leads'], { home: homeWith(settings) });
    const spaced = '{ "id": 5, "uuid" : "a", "category":"solar" }';
    expect((await listener.post(spaced)).body).toEqual({ status: 'accepted', id: 'a' });
    expect((await listener.post(byUuid('a'))).body).toEqual({ status: 'duplicate', id: 'a' });
    expect((await listener.post(`{"id":"evt","data":${byUuid('b')}}`)).body).toEqual({
      status: 'accepted',
      id: 'b',
    });
    expect((await listener.post(`{"x":[${byUuid('c')},${byUuid('d')}]}`)).body).toMatchObject({
      leads: [{ id: 'c' }, { id: 'd' }],
    });
    expect((await listener.stop()).stdout).toBe(
      `{"id":5,"uuid":"a","category":"solar"}\n${byUuid('b')}\n${byUuid('c')}\n${byUuid('d')}\n`,
    );
  });

  it.each([
    ['{"uuid":"a"}', "there is no 'id', only 'uuid'; say with the setting webhook.id .*, or with --lead-at"],
    [
      byUuid('a'),
      "there is no 'id', only 'uuid'; say with the setting webhook.id which field of a lead is its id$",
    ],
    [`[${byUuid('a')}]`, "has an 'id' .*; say with the setting webhook.id .*, or with --lead-at"],
    ['[]', 'the body is an empty array'],
    ['{"id":{},"category":"x"}', "^'id' is no string or integer$"],
  ])('is missing in %s, and what could be set is named', async (body, detail) => {
    const listener = await start(['--format', 'events']);
    expect(await listener.post(body)).toMatchObject({ status: 400, body: { error: 'not_a_lead' } });
    expect(listener.deliveries()).toMatchObject([
      { reason: 'not_a_lead', detail: expect.stringMatching(detail) as string },
    ]);
  });

  it.each([
    [
      byId('a'),
      "^there is no 'uuid', only 'id'; say with the setting webhook.id which field of a lead is its id$",
    ],
    ['{"uuid":1,"uuid":2,"category":"x"}', "^the key 'uuid' occurs more than once$"],
    [byUuid('x'.repeat(513)), "^'uuid' is longer"],
  ])('is the set field alone: %.40s is refused', async (body, detail) => {
    const listener = await start(['--format', 'events'], { home: homeWith(byUuidSetting) });
    expect((await listener.post(body)).status).toBe(400);
    expect(listener.deliveries()).toMatchObject([{ detail: expect.stringMatching(detail) as string }]);
  });
});

describe('what is stored', () => {
  it('is tried again, whichever field was the id when it came', async () => {
    const failing = await startApp(answering(500));
    const port = Number(new URL(failing.url).port);
    const argv = ['--forward-to', failing.url, '--format', 'events'];
    const before = await start(argv);
    expect((await before.post(byId('a'))).status).toBe(200);
    await until(() => before.forwards().length === 1);
    await before.stop();
    const { home } = before;
    expect((await leads(['config', 'set', 'webhook.id', 'uuid'], { home })).exitCode).toBe(0);
    const after = await start(argv, { home });
    expect((await after.post(byUuid('b', ',"n":"b"'))).status).toBe(200);
    await until(() => after.forwards().some(({ leadId }) => leadId === 'b'));
    await after.stop();
    await failing.close();
    const behind = await app(answering(200), port);
    const retried = await leads(['inbox', 'retry', '--pending', '--to', behind.url, '--json'], { home });
    expect(JSON.parse(retried.stdout)).toMatchObject([
      { leadId: 'a', ok: true },
      { leadId: 'b', ok: true },
    ]);
    expect(JSON.parse((await leads(['show', 'b', '--json'], { home })).stdout)).toMatchObject({ n: 'b' });
    // A filter reads it, too.
    const other = ['--category', 'other', '--to', behind.url, '--token', 't'];
    await leads(['send', '--from', 'inbox', ...other], { home });
    expect(behind.received).toHaveLength(2);
  });
});
