import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify from 'fastify';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { createReceiver, memoryInbox } from '../../../src/library/receiver.ts';
import { sign, verify } from '../../../src/library/webhook.ts';
import { serve } from './frameworks.ts';
import { post } from './post.ts';

const choice = { scheme: 'github', secrets: 'octo' } as const;

function start() {
  const errors: unknown[] = [];
  const receiver = createReceiver({
    ...choice,
    inbox: memoryInbox(),
    onLead: () => undefined,
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => receiver.close());
  return { receiver, errors };
}

/** As Koa wraps what it got: `ctx.request` and `ctx.response` have the objects of node as members. */
function koaContext(req: IncomingMessage, res: ServerResponse) {
  const ctx = { req, res, respond: true, method: req.method, url: req.url, headers: req.headers };
  return {
    ...ctx,
    request: { ctx, req, res, method: req.method, url: req.url, headers: req.headers },
    response: { ctx, req, res },
  };
}

test.each([
  ['ctx.request', ({ request, response }: ReturnType<typeof koaContext>) => [request, response]],
  ['ctx', (ctx: ReturnType<typeof koaContext>) => [ctx, ctx]],
])("Koa's %s is answered with the names of the right objects", async (_, given) => {
  const { receiver, errors } = start();
  const url = await serve((request, response) => {
    const [one, other] = given(koaContext(request, response));
    return receiver.node(one as never, other as never);
  });
  const answer = await post(url, '{"id":"a"}', {});
  expect(answer).toMatchObject({ status: 500, body: { error: 'no_request' } });
  expect(answer.body['message']).toContain('ctx.req and ctx.res');
  expect(errors).toMatchObject([{ name: 'NoRequestError', code: 'config' }]);
});

test("Fastify's own objects are answered with the names of the right ones", async () => {
  const { receiver } = start();
  const app = fastify();
  app.post('/leads', (request, reply) => receiver.node(request as never, reply as never));
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const answer = await post(`${url}/leads`, '{"id":"a"}', { 'content-type': 'application/json' });
  expect(answer).toMatchObject({ status: 500, body: { error: 'no_request' } });
  expect(answer.body['message']).toContain('request.raw and reply.raw');
});

test.each(['c.req', 'c'])("Hono's %s is answered with the name of the right object", async (given) => {
  const { receiver, errors } = start();
  const app = new Hono();
  app.post('/leads', (c) => receiver.fetch((given === 'c' ? c : c.req) as never));
  const answer = await app.request('/leads', await sign({ id: 'a' }, choice));
  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({
    error: 'no_request',
    message: expect.stringContaining('give c.req.raw') as string,
  });
  expect(errors).toHaveLength(1);
});

test.each([
  [{}, {}],
  [undefined, undefined],
  [null, 'response'],
])('node() never rejects, also with %j and %j', async (request, response) => {
  const { receiver, errors } = start();
  await expect(receiver.node(request as never, response as never)).resolves.toBeUndefined();
  expect(errors).toMatchObject([{ name: 'NoRequestError' }]);
});

test.each([
  ['no headers', { method: 'POST', url: '/', headers: undefined, body: '{"id":"a"}' }],
  ['headers that are null', { method: 'POST', url: '/', headers: null, body: '{"id":"a"}' }],
  ['no method', { method: undefined, url: '/', headers: {}, body: '{"id":"a"}' }],
  ['a URL object', { method: 'POST', url: new URL('https://a.example/'), headers: {}, body: '{"id":"a"}' }],
  ['a response', new Response('{"id":"a"}')],
])('%s: what is like a request and is none is said to be none', async (_, given) => {
  await expect(verify(given as never, choice)).rejects.toMatchObject({ name: 'NoRequestError' });
  const { receiver, errors } = start();
  expect((await receiver.fetch(given as never)).status).toBe(500);
  expect(errors).toMatchObject([{ name: 'NoRequestError' }]);
});

test('verify names where the request is in an event of AWS Lambda', async () => {
  const event = { version: '2.0', requestContext: { http: { method: 'POST' } }, headers: {}, body: 'e30=' };
  await expect(verify(event as never, choice)).rejects.toMatchObject({
    name: 'NoRequestError',
    hint: expect.stringContaining('isBase64Encoded') as string,
  });
});
