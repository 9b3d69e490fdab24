import express from 'express';
import fastify from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createReceiver, type Lead, memoryInbox, ParsedBodyError } from '../../../src/library/receiver.ts';
import { vendors } from '../vendor-deliveries.ts';
import { frameworks, serve } from './frameworks.ts';
import { post } from './post.ts';

const body = '{"id":"lead_1","category":"solar","contact":{"name":"Zoë \\u00e9"},"amount":9007199254740993}';

function receiverFor(scheme: (typeof vendors)[number]) {
  const leads: Lead[] = [];
  const errors: unknown[] = [];
  const receiver = createReceiver({
    scheme: scheme.scheme,
    secrets: scheme.secret,
    inbox: memoryInbox(),
    onLead: (lead) => leads.push(lead),
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => receiver.close());
  return { receiver, leads, errors };
}

describe.each(Object.entries(frameworks))('%s', (_, start) => {
  test.each(vendors)('takes a delivery of $scheme, and none of which a byte differs', async (vendor) => {
    const { receiver, leads, errors } = receiverFor(vendor);
    const url = await start(receiver);
    const headers = await vendor.headers(body);
    const flipped = Buffer.from(body);
    flipped.writeUInt8(flipped.readUInt8(20) ^ 1, 20);
    expect(await post(`${url}/leads`, flipped, headers)).toMatchObject({
      status: 401,
      body: { error: 'wrong_credential' },
    });
    expect(leads).toEqual([]);
    expect(await post(`${url}/leads`, body, headers)).toEqual({
      status: 200,
      body: { status: 'accepted', id: 'lead_1' },
    });
    expect(await post(`${url}/leads`, body, headers)).toEqual({
      status: 200,
      body: { status: 'duplicate', id: 'lead_1' },
    });
    expect(leads.map((lead) => Buffer.from(lead.bytes).toString())).toEqual([body]);
    expect(leads[0]?.value).toMatchObject({ id: 'lead_1', category: 'solar' });
    expect(errors).toEqual([]);
  });
});

const [vendor] = vendors as [(typeof vendors)[number]];

test('behind express.json() the answer is an error at once, which says the fix', async () => {
  const { receiver, leads, errors } = receiverFor(vendor);
  const app = express();
  app.use(express.json());
  app.post('/leads', receiver.node);
  const url = await serve(app);
  const { status, body: answer } = await post(`${url}/leads`, body, await vendor.headers(body));
  expect(status).toBe(500);
  expect(answer).toMatchObject({ error: 'parsed_body' });
  expect(answer['message']).toContain('route it before app.use(express.json())');
  expect(answer['message']).not.toContain('Fastify');
  expect(errors).toEqual([expect.any(ParsedBodyError)]);
  expect(leads).toEqual([]);
});

test('behind express.raw() the kept bytes are taken', async () => {
  const { receiver, leads } = receiverFor(vendor);
  const app = express();
  app.use(express.raw({ type: '*/*' }));
  app.post('/leads', receiver.node);
  const url = await serve(app);
  expect(await post(`${url}/leads`, body, await vendor.headers(body))).toMatchObject({ status: 200 });
  expect(leads).toHaveLength(1);
});

test('a body that Fastify parsed is an error at once', async () => {
  const { receiver, errors } = receiverFor(vendor);
  const app = fastify();
  app.post('/leads', async (request, reply) => {
    reply.hijack();
    await receiver.node(request.raw, reply.raw);
  });
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const { status, body: answer } = await post(`${url}/leads`, body, await vendor.headers(body));
  expect(status).toBe(500);
  expect(answer['message']).toContain('removeAllContentTypeParsers');
  expect(errors).toHaveLength(1);
});

test('a body whose bytes node is to decode is an error at once', async () => {
  const { receiver, errors } = receiverFor(vendor);
  const url = await serve((request, response) => receiver.node(request.setEncoding('utf8'), response));
  const { status, body: answer } = await post(url, body, await vendor.headers(body));
  expect(status).toBe(500);
  expect(answer['message']).toContain('setEncoding()');
  expect(errors).toEqual([expect.any(ParsedBodyError)]);
});

test('a Fetch request that was read is an error at once', async () => {
  const { receiver } = receiverFor(vendor);
  const request = new Request('https://app.test/leads', { method: 'POST', body });
  await request.json();
  const answer = await receiver.fetch(request);
  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({
    error: 'parsed_body',
    message: expect.stringContaining('Hono') as string,
  });
});
