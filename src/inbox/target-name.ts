import { createHmac } from 'node:crypto';

/**
 * Removes user and password from the name of a target as receivers give it: `forward https://user:password@app.test/hook?key=1`,
 * `exec COMMAND`, `output PATH`. The rest may still hold credentials, so that no store keeps a name as it is, but a digest, a
 * label, and the address that `targetAddress` gives.
 */
function withoutLogin(name: string): string {
  const url = urlOf(name);
  if (url === undefined) return name;
  url.username = '';
  url.password = '';
  return `forward ${url.href}`;
}

const digestBytesKept = 16;

export type StoredName = (target: string) => string;

/** Gives each target the name under which it is stored: a digest, under the key of the inbox, of its name without user and password. */
export function storedNames(key: Uint8Array): StoredName {
  const names = new Map<string, string>();
  return (target) => {
    let stored = names.get(target);
    if (stored === undefined) {
      const digest = createHmac('sha256', key).update(withoutLogin(target)).digest();
      stored = digest.subarray(0, digestBytesKept).toString('base64url');
      names.set(target, stored);
    }
    return stored;
  };
}

/** The part of a name that may be stored and shown: of a forward the origin of its URL, of a command only the word `exec`. */
export function targetLabel(name: string): string {
  const url = urlOf(name);
  if (url !== undefined) return `forward ${url.origin}`;
  return name.startsWith('output ') ? name : (name.split(' ')[0] ?? '');
}

/** Matches a part of a path that is long and has letters and digits: as in the addresses of chat webhooks, it may be a credential. */
const secretPart = /(?<=\/)(?=[^/]*\d)(?=[^/]*[a-z])[^/]{20,}/gi;

/** The URL of a forward without what may be a credential: user, password, query, and most of each `secretPart`. Undefined for others. */
export function targetAddress(name: string): string | undefined {
  const url = urlOf(name);
  const path = url?.pathname.replace(secretPart, (part) => `…${part.slice(-4)}`);
  return url && `${url.origin}${path ?? ''}`;
}

function urlOf(name: string): URL | undefined {
  const text = name.startsWith('forward ') ? name.slice('forward '.length) : '';
  return URL.canParse(text) ? new URL(text) : undefined;
}
