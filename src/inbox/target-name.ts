import { createHmac } from 'node:crypto';

/**
 * Names of targets as receivers give them: `forward https://user:password@app.test/hook?key=1`, `exec COMMAND`,
 * `output PATH`. They may hold credentials, so that no store keeps them as they are.
 */

/** The same target whatever the credentials are: those that change make it no other one. */
function withoutCredentials(name: string): string {
  const url = urlOf(name);
  if (url === undefined) return name;
  url.username = '';
  url.password = '';
  return `forward ${url.href}`;
}

/** In bytes, of a target's stored name. */
export const storedNameLength = 16;

/** A keyed digest, under which a target is stored; the same whatever the credentials are. `key`: of the inbox. */
export const storedName = (key: Uint8Array, name: string): Buffer =>
  createHmac('sha256', key).update(withoutCredentials(name)).digest().subarray(0, storedNameLength);

/** What may be stored and shown of a name: of a URL the origin, of a command nothing. */
export function targetLabel(name: string): string {
  const url = urlOf(name);
  if (url !== undefined) return `forward ${url.origin}`;
  return name.startsWith('output ') ? name : (name.split(' ')[0] ?? '');
}

function urlOf(name: string): URL | undefined {
  const text = name.startsWith('forward ') ? name.slice('forward '.length) : '';
  return URL.canParse(text) ? new URL(text) : undefined;
}
