import { ConfigError } from '../../errors.ts';
import { isFetchRequest, isNodeRequest } from './request.ts';

const general =
  "give a Fetch Request (Hono's c.req.raw), a request of node:http or Express, or { method, url, headers, body }";

/** What was given to check is no request: a mistake of the application, which no request can cause. */
export class NoRequestError extends ConfigError {
  /** @internal */
  static override readonly brand: string = 'NoRequestError';
}

/** Says where the request is in what was given in place of it, by the framework that was recognized. */
export const noRequest = (given: unknown): NoRequestError =>
  new NoRequestError('what was given to check is no request', { hint: requestHint(given) });

function requestHint(given: unknown): string {
  if (typeof given !== 'object' || given === null) return general;
  const raw = memberOf(given, 'raw');
  if (isFetchRequest(raw)) return 'Hono: give c.req.raw in place of c.req';
  if (isFetchRequest(memberOf(memberOf(given, 'req'), 'raw'))) return 'Hono: give c.req.raw in place of c';
  if (isNodeRequest(raw)) return 'Fastify: give request.raw and reply.raw, after reply.hijack()';
  if (isNodeRequest(memberOf(given, 'req'))) {
    return 'Koa: give ctx.req and ctx.res, after ctx.respond = false';
  }
  if ('requestContext' in given) {
    return "AWS Lambda: give { method, url, headers, body: Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8') }";
  }
  return general;
}

/** What the wrappers of frameworks have around the objects of node and of the Fetch standard. */
export function memberOf(given: unknown, name: string): object {
  const member: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, name) : undefined;
  return typeof member === 'object' && member !== null ? member : {};
}
