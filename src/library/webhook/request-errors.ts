import { ConfigError, LeadsError } from '../../errors.ts';
import { isFetchRequest, isNodeRequest } from './request.ts';

/**
 * The application read the body before `verify`: the bytes that the signature covers are lost. No sender can
 * cause this. `hint` names the fix for the framework that was recognized.
 */
export class ParsedBodyError extends LeadsError {
  override readonly name = 'ParsedBodyError';
  readonly code = 'parsed_body';
}

export function parsedBodyError(request: object, replacement: unknown): ParsedBodyError {
  return new ParsedBodyError(
    `the body of the request was read before its signature was checked: ${lossOf(replacement)}`,
    { hint: parsedBodyHint(request) },
  );
}

function lossOf(replacement: unknown): string {
  if (replacement === undefined || replacement === null) return 'nothing is left of it';
  return typeof replacement === 'string'
    ? 'its bytes were decoded to a text'
    : 'it is an object that was parsed';
}

const lambda = "Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8')";
const express =
  "Express: route it before app.use(express.json()), or give its route express.raw({ type: '*/*' }) instead";
const nest = 'Nest: NestFactory.create(AppModule, { rawBody: true })';
const fastify =
  "Fastify: register the route in a scope of its own, with removeAllContentTypeParsers() and addContentTypeParser('*', (request, payload, done) => done(null)); give request.raw";
const nextPages = 'Next, pages/api: export const config = { api: { bodyParser: false } }';

/** Recognizes the framework by members that only its requests have. */
function parsedBodyHint(request: object): string {
  if ('bodyUsed' in request) {
    return 'Hono: pass c.req.raw, and read nothing from c.req before; Next, route.ts: pass the request, without request.json() or request.text() before';
  }
  // `setEncoding` loses the bytes before anything is read.
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

/** The hint names the request inside the value, by the framework that was recognized. */
export const noRequest = (value: unknown): ConfigError =>
  new ConfigError('what was given to check is no request', { hint: requestHint(value) });

function requestHint(value: unknown): string {
  const raw = memberOf(value, 'raw');
  if (isFetchRequest(raw)) return 'Hono: give c.req.raw in place of c.req';
  if (isFetchRequest(memberOf(memberOf(value, 'req'), 'raw'))) return 'Hono: give c.req.raw in place of c';
  if (isNodeRequest(raw)) return 'Fastify: give request.raw';
  if (isNodeRequest(memberOf(value, 'req'))) return 'Koa: give ctx.req';
  if (typeof value === 'object' && value !== null && 'requestContext' in value) {
    return `AWS Lambda: give { method, url, headers, body: ${lambda} }`;
  }
  return "give a Fetch Request (Hono's c.req.raw), a request of node:http or Express, or { method, url, headers, body }";
}

/** Returns an object that a framework keeps in its own one; an empty object where it has none. */
function memberOf(value: unknown, name: string): object {
  const member: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof member === 'object' && member !== null ? member : {};
}
