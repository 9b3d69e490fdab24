import { keyParameter, type WireSession } from '../../wire.ts';
import { Api, send } from './api.ts';
import { Problem } from './problem.ts';

export const keyFragment = `#${keyParameter}=`;
const tokenItem = 'token';

/** Until it was exchanged, so that it can be tried again where the program did not answer. */
let key: string | null = null;

/**
 * Exchanges the key of the address for a token, which this tab keeps, or takes the token that it kept. Throws a `Problem`
 * where there is neither, or where the key is of a program that ended.
 */
export async function openSession(): Promise<Api> {
  const { hash } = location;
  if (hash.startsWith(keyFragment)) {
    // Before anything else: nobody who sees the screen, the history or a bookmark sees the key.
    history.replaceState(null, '', '#/');
    key = hash.slice(keyFragment.length);
  }
  if (key !== null) sessionStorage.setItem(tokenItem, await tokenFor(key));
  key = null;
  const token = sessionStorage.getItem(tokenItem);
  if (token === null) throw new Problem('no-token', 'this address has no key');
  return new Api(token);
}

async function tokenFor(exchanged: string): Promise<string> {
  sessionStorage.removeItem(tokenItem);
  const answer = await send('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key: exchanged }),
  });
  return ((await answer.json()) as WireSession).token;
}

/** A new URL of the program pasted into this tab changes only the fragment, which loads nothing by itself. */
export function reloadOnNewKey(): void {
  addEventListener('hashchange', () => {
    if (location.hash.startsWith(keyFragment)) location.reload();
  });
}
