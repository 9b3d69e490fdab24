import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { createClient } from '../../src/library/client.ts';
import { createReceiver, type LeadContext, memoryInbox } from '../../src/library/receiver.ts';
import { sign, verify } from '../../src/library/webhook.ts';
import { FakeClock } from '../support/clock.ts';
import { scripted, sendJson } from '../support/service.ts';

const choice = { scheme: 'github', secrets: 'octo' } as const;
const schema = z.object({ id: z.string(), score: z.coerce.number() });
const url = 'https://app.test/leads';

const signed = async (body: unknown): Promise<Request> =>
  new Request(url, await sign(JSON.stringify(body), choice));

test('verify gives what the schema makes of a lead, and one that does not fit with its issues', async () => {
  const body = {
    data: [
      { id: 'a', category: 'solar', score: '7' },
      { id: 'b', category: 'solar', score: 'x' },
    ],
  };
  const checked = await verify(await signed(body), { ...choice, schema, leadAt: '/data' });
  if (!checked.ok) throw new Error(checked.hint);
  const [fits, other] = checked.leads;
  expect(fits).toMatchObject({ id: 'a', value: { id: 'a', score: 7 } });
  expect(fits?.issues).toBeUndefined();
  expect(other).toMatchObject({ id: 'b', value: { score: 'x' }, issues: [{ path: ['score'] }] });
  expect(JSON.stringify(checked.leads)).toBe(JSON.stringify(body.data));
});

test('a schema of any library is called as a method of it', async () => {
  const standard = {
    version: 1 as const,
    vendor: 'of this test',
    field: 'id',
    validate(lead: unknown) {
      return { value: Reflect.get(Object(lead) as object, this.field) as string };
    },
  };
  const checked = await verify(await signed({ id: 'a' }), { ...choice, schema: { '~standard': standard } });
  expect(checked).toMatchObject({ ok: true, leads: [{ value: 'a' }] });
});

test('what is no schema is a TypeError before anything is taken', async () => {
  const none = { schema: { parse: () => 1 } } as unknown as { schema: typeof schema };
  await expect(verify(await signed({ id: 'a' }), { ...choice, ...none })).rejects.toThrow(TypeError);
  const options = { ...choice, ...none, inbox: memoryInbox(), onLead: () => undefined };
  expect(() => createReceiver(options)).toThrow(/~standard/);
});

/** A receiver on a clock that stands still, and what `onLead` was given. */
function start(more: { readonly isRefused?: boolean } = {}) {
  const given: { readonly value: unknown; readonly issues: unknown; readonly context: LeadContext }[] = [];
  const receiver = createReceiver({
    ...choice,
    schema,
    inbox: memoryInbox(),
    clock: new FakeClock(),
    onError: () => undefined,
    onLead: ({ value, issues }, context) => {
      given.push({ value, issues, context });
      if (more.isRefused === true && given.length === 1) throw new Error('not now');
    },
  });
  onTestFinished(() => receiver.close());
  return { receiver, given };
}

test('onLead gets the value that the schema makes, and a lead that does not fit with its issues: none is lost', async () => {
  const { receiver, given } = start();
  expect((await receiver.fetch(await signed({ id: 'a', score: '7' }))).status).toBe(200);
  expect((await receiver.fetch(await signed({ id: 'b' }))).status).toBe(200);
  expect(given).toMatchObject([
    { value: { id: 'a', score: 7 }, issues: undefined },
    { value: { id: 'b' }, issues: [{ path: ['score'] }] },
  ]);
});

test('onLead is told headers, path, envelope and source, also of a lead that is handed over again', async () => {
  const { receiver, given } = start({ isRefused: true });
  const body = { event: 'lead.created', data: { id: 'a', category: 'solar', score: 1 } };
  const request = async (): Promise<Request> => {
    const made = await signed(body);
    made.headers.set('x-campaign', 'october');
    return made;
  };
  expect((await receiver.fetch(await request())).status).toBe(502);
  expect((await receiver.fetch(await request())).status).toBe(200);
  expect(given).toHaveLength(2);
  for (const { context } of given) {
    const { headers, path, envelope, source } = context;
    expect([headers.get('x-campaign'), path, envelope, source]).toEqual(['october', '/leads', body, 'push']);
  }
  expect((await receiver.fetch(await signed({ id: 'b', score: 1 }))).status).toBe(200);
  expect(given[2]?.context.envelope).toBeUndefined();
});

test("a client's leads are read by the schema; one that it throws for is not counted as handed out", async () => {
  const data = ['1', '2', 'x'].map((score, i) => ({ id: `l${i}`, score, createdAt: '2026-01-01T00:00:00Z' }));
  const service = await scripted((_, response) => sendJson(response, { data, total: 3 }));
  onTestFinished(() => service.close());
  const client = createClient({ baseUrl: service.url, apiKey: 'key' });
  const values: unknown[] = [];
  for await (const { value, issues } of client.leads({}, { schema })) values.push(issues?.length ?? value);
  expect(values).toEqual([{ id: 'l0', score: 1 }, { id: 'l1', score: 2 }, 1]);

  const fails = schema.refine(({ id }) => {
    if (id === 'l1') throw new Error('the table of scores is away');
    return true;
  });
  const broken = client.leads({}, { schema: fails });
  const first: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const { id } of broken) if (id !== undefined) first.push(id);
  };
  await expect(reading()).rejects.toThrow('the table of scores is away');
  const rest: (string | undefined)[] = [];
  for await (const { id } of client.leads({}, { from: broken.checkpoint() })) rest.push(id);
  expect([first, rest]).toEqual([['l0'], ['l1', 'l2']]);
});
