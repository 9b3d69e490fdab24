const express =
  "Express: route it before app.use(express.json()), or give its route express.raw({ type: '*/*' }) instead";
const nest = 'Nest: NestFactory.create(AppModule, { rawBody: true })';
const fastify =
  "Fastify: register the route in a scope of its own, with removeAllContentTypeParsers() and addContentTypeParser('*', (request, payload, done) => done(null)); the receiver takes request.raw and reply.raw";
const koa = 'Koa: give ctx.req and ctx.res to receiver.node, in front of the body parser';
const noEncoding = 'node: call no setEncoding() on the request';
const nextPages = 'Next, pages/api: export const config = { api: { bodyParser: false } }';
const fetchHandler =
  'Hono: pass c.req.raw, and read nothing from c.req before; Next, route.ts: pass the request, without request.json() or request.text() before';

export function describeBody(body: unknown): string {
  const found =
    typeof body === 'string'
      ? 'its bytes were decoded to a text'
      : body === undefined || body === null
        ? 'nothing is left of it'
        : 'it is an object that was parsed';
  return `the body of the request was read before its signature was checked: ${found}`;
}

/** How to mend it in the framework that made the request: loaded when it is needed. */
export function hintFor(request: object): string {
  if ('bodyUsed' in request) return fetchHandler;
  // Lost although nothing was read.
  if ('readableDidRead' in request && !request.readableDidRead) return noEncoding;
  if ('routeOptions' in request) return fastify;
  if ('ctx' in request && 'req' in request) return koa;
  // Nest serves with Express unless it is asked for Fastify.
  if ('app' in request && 'next' in request) return `${express}; ${nest}`;
  if ('query' in request && 'cookies' in request) return nextPages;
  if ('rawHeaders' in request) return [express, nest, fastify, nextPages].join('; ');
  return "pass the bytes as they came, such as Express's request.body behind express.raw(), or Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8') on AWS Lambda";
}
