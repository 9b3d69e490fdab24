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

/** The bytes of a digest that are kept. */
const digestLength = 16;

export type StoredName = (target: string) => string;

/** A target is stored under a digest of its name, keyed with the `key` of the inbox. Another user or password changes nothing. */
export function storedNames(key: Uint8Array): StoredName {
  const names = new Map<string, string>();
  return (target) => {
    let stored = names.get(target);
    if (stored === undefined) {
      const digest = createHmac('sha256', key).update(withoutLogin(target)).digest();
      stored = digest.subarray(0, digestLength).toString('base64url');
      names.set(target, stored);
    }
    return stored;
  };
}

/** Returns the part of a name that may be stored and shown: of a URL the origin, of a command only the word `exec`. */
export function targetLabel(name: string): string {
  const url = urlOf(name);
  if (url !== undefined) return `forward ${url.origin}`;
  return name.startsWith('output ') ? name : (name.split(' ')[0] ?? '');
}

/** Matches a part of a path that is long and has letters and digits: a credential, as in the addresses of incoming webhooks. */
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
