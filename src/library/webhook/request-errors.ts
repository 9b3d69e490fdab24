import { ConfigError } from '../../errors.ts';
import { ParsedBodyError } from './parsed-body-error.ts';
import { isFetchRequest, isNodeRequest } from './request.ts';

/** The body of a request was read before its signature was checked; says how to mend it in the framework that made it. */
export function parsedBodyError(request: object, body: unknown): ParsedBodyError {
  const found =
    typeof body === 'string'
      ? 'its bytes were decoded to a text'
      : body === undefined || body === null
        ? 'nothing is left of it'
        : 'it is an object that was parsed';
  return new ParsedBodyError(`the body of the request was read before its signature was checked: ${found}`, {
    hint: parsedBodyHint(request),
  });
}

const lambda = "Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8')";
const express =
  "Express: route it before app.use(express.json()), or give its route express.raw({ type: '*/*' }) instead";
const nest = 'Nest: NestFactory.create(AppModule, { rawBody: true })';
const fastify =
  "Fastify: register the route in a scope of its own, with removeAllContentTypeParsers() and addContentTypeParser('*', (request, payload, done) => done(null)); give request.raw";
const nextPages = 'Next, pages/api: export const config = { api: { bodyParser: false } }';

function parsedBodyHint(request: object): string {
  if ('bodyUsed' in request) {
    return 'Hono: pass c.req.raw, and read nothing from c.req before; Next, route.ts: pass the request, without request.json() or request.text() before';
  }
  // Lost although nothing was read.
  if ('readableDidRead' in request && !request.readableDidRead) {
    return 'node: call no setEncoding() on the request';
  }
  if ('routeOptions' in request) return fastify;
  if ('ctx' in request && 'req' in request) return 'Koa: give ctx.req, before the body parser';
  // Nest serves with Express unless it is asked for Fastify.
  if ('app' in request && 'next' in request) return `${express}; ${nest}`;
  if ('query' in request && 'cookies' in request) return nextPages;
  if ('rawHeaders' in request) return [express, nest, fastify, nextPages].join('; ');
  return `pass the bytes as they came, such as Express's request.body behind express.raw(), or ${lambda} on AWS Lambda`;
}

/** What was given to check is no request; says where the request is, by the framework that was recognized. */
export const noRequest = (given: unknown): ConfigError =>
  new ConfigError('what was given to check is no request', { hint: requestHint(given) });

function requestHint(given: unknown): string {
  const raw = memberOf(given, 'raw');
  if (isFetchRequest(raw)) return 'Hono: give c.req.raw in place of c.req';
  if (isFetchRequest(memberOf(memberOf(given, 'req'), 'raw'))) return 'Hono: give c.req.raw in place of c';
  if (isNodeRequest(raw)) return 'Fastify: give request.raw';
  if (isNodeRequest(memberOf(given, 'req'))) return 'Koa: give ctx.req';
  if (typeof given === 'object' && given !== null && 'requestContext' in given) {
    return `AWS Lambda: give { method, url, headers, body: ${lambda} }`;
  }
  return "give a Fetch Request (Hono's c.req.raw), a request of node:http or Express, or { method, url, headers, body }";
}

/** What the wrappers of frameworks have around the objects of node and of the Fetch standard. */
function memberOf(given: unknown, name: string): object {
  const member: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, name) : undefined;
  return typeof member === 'object' && member !== null ? member : {};
}
