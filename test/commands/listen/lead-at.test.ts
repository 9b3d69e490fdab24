import { describe, expect, it } from 'vitest';
import { leads } from '../../support/run.ts';
import { listenInEachTest } from './support.ts';

const start = listenInEachTest();
const leadText = (id: string, more = ''): string => `{ "id": "${id}", "category":"solar", "n": 1.0${more} }`;
const compactText = (id: string): string => `{"id":"${id}","category":"solar","n":1.0}`;

describe('a lead in an envelope', () => {
  it('is taken by its own id and bytes, and known again in any envelope, also in a later run', async () => {
    const first = await start(['--format', 'events']);
    const body = `{"id":"evt_1","event":"lead.created","data": ${leadText('a')} }`;
    expect((await first.post(body)).body).toEqual({ status: 'accepted', id: 'a' });
    expect((await first.post(`{"id":"evt_2","data":${leadText('a')}}`)).body).toEqual({
      status: 'duplicate',
      id: 'a',
    });
    await first.stop();
    expect(first.deliveries()).toMatchObject([
      { leadId: 'a', verdict: 'accepted', lead: { id: 'a' } },
      { leadId: 'a', verdict: 'duplicate', attempt: 2 },
    ]);
    expect(first.deliveries()[1]).not.toHaveProperty('differs');
    const { home } = first;
    const second = await start(['--format', 'leads'], { home });
    expect((await second.post(leadText('a'))).body).toEqual({ status: 'duplicate', id: 'a' });
    await second.post(`{"lead":${leadText('b')}}`);
    expect((await second.stop()).stdout).toBe(`${compactText('b')}\n`);
    const run = async (...words: string[]) => (await leads(words, { home })).stdout;
    expect(await run('inbox', 'export')).toBe(`${compactText('a')}\n${compactText('b')}\n`);
    expect(await run('inbox', 'show', 'a', '--raw')).toBe(body);
    expect(JSON.parse(await run('inbox', 'show', 'a', '--json'))).toMatchObject([
      { body, lead: leadText('a') },
      {},
      { body: leadText('a') },
    ]);
    expect(await run('inbox', 'show', 'a')).toMatch(/lead +\{ "id": "a"[^]*body +\{"id":"evt_1"/);
    expect(JSON.parse(await run('show', 'b', '--json'))).toEqual({ id: 'b', category: 'solar', n: 1 });
  });

  it('is taken from where --lead-at or the profile says', async () => {
    const named = await start(['--lead-at', '/payload/0']);
    const body = `{"id":"evt","category":"event","payload":[${leadText('a')}]}`;
    expect((await named.post(body)).body).toEqual({ status: 'accepted', id: 'a' });
    expect((await leads(['config', 'set', 'webhook.lead', '/payload'], named)).exitCode).toBe(0);
    const stored = await start([], { home: named.home });
    expect((await stored.post(body.replace('"a"', '"b"'))).body).toEqual({ status: 'accepted', id: 'b' });
    const whole = await start(['--lead-at', ''], { home: named.home });
    expect((await whole.post(body)).body).toEqual({ status: 'accepted', id: 'evt' });
    const found = await start(['--lead-at', 'auto', '--format', 'events'], { home: named.home });
    // The event has a category, too: both readings are possible.
    expect((await found.post(body)).status).toBe(400);
    await found.stop();
    expect(found.deliveries()).toMatchObject([
      { detail: expect.stringContaining("--lead-at '' or --lead-at /payload/* says which") as string },
    ]);
  });

  it('is said to be taken from its place once, unless the place was named', async () => {
    const found = await start();
    await found.post(leadText('a'));
    expect((await found.post(`{"items":[${leadText('b')}]}`)).status).toBe(200);
    await found.post(`{"items":[${leadText('c')}]}`);
    const { stderr } = await found.stop();
    expect(
      stderr.match(/leads are taken from \/items\/\* of the body; --lead-at '\/items\/\*'/g),
    ).toHaveLength(1);
    const named = await start(['--lead-at', '/items/*']);
    expect((await named.post(`{"items":[${leadText('d')}]}`)).status).toBe(200);
    expect((await named.stop()).stderr).not.toContain('taken from');
  });

  it('is missed where the profile says it is, and the setting is named', async () => {
    const { home } = await start();
    expect((await leads(['config', 'set', 'webhook.lead', '/payload'], { home })).exitCode).toBe(0);
    const listener = await start(['--format', 'events'], { home });
    await listener.post('{"x":1}');
    expect(listener.deliveries()).toMatchObject([
      {
        detail:
          'there is nothing at /payload, where the setting webhook.lead says that the lead is; ' +
          'the setting webhook.other-events accept takes it as another event',
      },
    ]);
  });

  it('needs a pointer', async () => {
    for (const typed of ['data', '/a~2']) {
      const run = await leads(['listen', '--token', 't', '--lead-at', typed]);
      expect(run.exitCode).toBe(2);
      expect(run.stderr).toContain(`--lead-at: '${typed}' is not auto or a JSON Pointer`);
      expect((await leads(['config', 'set', 'webhook.lead', typed])).exitCode).toBe(2);
    }
  });
});

describe('several leads in one delivery', () => {
  it('get one answer with a verdict each, and an event each', async () => {
    const listener = await start(['--format', 'events', '--verbose']);
    const answer = await listener.post(`[${leadText('a')},${leadText('b')},${leadText('a', ',"x":2')}]`);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      status: 'accepted',
      leads: [
        { status: 'accepted', id: 'a' },
        { status: 'accepted', id: 'b' },
        { status: 'duplicate', id: 'a' },
      ],
    });
    const again = await listener.post(`{"leads":[${leadText('b')} , ${leadText('a')}]}`);
    expect(again.body).toMatchObject({ status: 'duplicate', leads: [{ id: 'b' }, { id: 'a' }] });
    const run = await listener.stop();
    expect(listener.deliveries()).toMatchObject([
      { leadId: 'a', verdict: 'accepted', leadNumber: 1, leadCount: 3, status: 200, lead: { id: 'a' } },
      { leadId: 'b', verdict: 'accepted', leadNumber: 2, leadCount: 3 },
      { leadId: 'a', verdict: 'duplicate', leadNumber: 3, attempt: 2, differs: ['x'] },
      { leadId: 'b', verdict: 'duplicate', leadNumber: 1, leadCount: 2, attempt: 2 },
      { leadId: 'a', verdict: 'duplicate', leadNumber: 2, attempt: 3 },
    ]);
    expect(run.stderr).toContain('2 accepted, 3 duplicate in');
    expect(run.stderr.match(/POST \//g)).toHaveLength(2);
  });

  it('count each for --count, are shown with their number, and printed each on a line', async () => {
    const counted = await start(['--count', '2', '--format', 'leads']);
    await counted.post(`[${leadText('a')},${leadText('b')}]`);
    expect(await counted.done).toMatchObject({
      exitCode: 0,
      stdout: `${compactText('a')}\n${compactText('b')}\n`,
    });
    const pretty = await start();
    await pretty.post(`[${leadText('a')},${leadText('b')}]`);
    expect((await pretty.stop()).stdout).toMatch(/accepted {3}a {2}solar {2}1 of 2[^]*b {2}solar {2}2 of 2/);
  });
});
