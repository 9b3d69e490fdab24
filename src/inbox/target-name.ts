import { createHmac } from 'node:crypto';

/**
 * Names of targets as receivers give them: `forward https://user:password@app.test/hook?key=1`, `exec COMMAND`,
 * `output PATH`. They may hold credentials, so that no store keeps them as they are: only a digest, a label, and the address that `targetAddress` gives.
 */

function withoutCredentials(name: string): string {
  const url = urlOf(name);
  if (url === undefined) return name;
  url.username = '';
  url.password = '';
  return `forward ${url.href}`;
}

/** In bytes, of a target's stored name. */
const storedNameLength = 16;

export type StoredName = (target: string) => string;

/** A target is stored under a keyed digest of its name, the same whatever the credentials are. `key`: of the inbox. */
export function storedNames(key: Uint8Array): StoredName {
  const names = new Map<string, string>();
  return (target) => {
    let stored = names.get(target);
    if (stored === undefined) {
      const digest = createHmac('sha256', key).update(withoutCredentials(target)).digest();
      stored = digest.subarray(0, storedNameLength).toString('base64url');
      names.set(target, stored);
    }
    return stored;
  };
}

/** Labels a target by what may be stored and shown of its name: of a URL the origin, of a command nothing. */
export function targetLabel(name: string): string {
  const url = urlOf(name);
  if (url !== undefined) return `forward ${url.origin}`;
  return name.startsWith('output ') ? name : (name.split(' ')[0] ?? '');
}

/** A part of a path that may be a credential, as in the addresses of incoming webhooks. */
const secretPart = /(?<=\/)(?=[^/]*\d)(?=[^/]*[a-z])[^/]{20,}/gi;

/** Gives the address of a forward without what may be a credential: user, password, query, and long parts of letters and digits. */
export function targetAddress(name: string): string | undefined {
  const url = urlOf(name);
  const path = url?.pathname.replace(secretPart, (part) => `…${part.slice(-4)}`);
  return url && `${url.origin}${path ?? ''}`;
}

function urlOf(name: string): URL | undefined {
  const text = name.startsWith('forward ') ? name.slice('forward '.length) : '';
  return URL.canParse(text) ? new URL(text) : undefined;
}
