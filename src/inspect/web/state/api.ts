import { keyParameter, tokenHeader, type WireInbox, type WireProblem, type WireSession } from '../../wire.ts';
import { Problem, problemOf } from './problem.ts';

/** A program that does not answer for this long has probably ended. */
const answerMs = 10_000;

/** Sends the token of this session. Each method throws a `Problem`, or an `AbortError` when it was cancelled. */
export class Api {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(token: string) {
    this.#headers = { [tokenHeader]: token };
  }

  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    const signals = [AbortSignal.timeout(answerMs), ...(signal === undefined ? [] : [signal])];
    return send(path, { headers: this.#headers, signal: AbortSignal.any(signals) });
  }

  post<Answer>(path: string, body: unknown): Promise<Answer> {
    return send(path, jsonPost(body, this.#headers));
  }
}

const jsonPost = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

async function send<Answer>(path: string, options: RequestInit): Promise<Answer> {
  try {
    const answer = await fetch(path, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      ...options,
    });
    if (answer.ok) return (await answer.json()) as Answer;
    const { code, problem, hint } = (await answer.json()) as WireProblem;
    throw new Problem(code, problem, hint);
  } catch (error) {
    const isCancelled = error instanceof DOMException && error.name === 'AbortError';
    if (error instanceof Problem || isCancelled) throw error;
    // fetch reports every failure of a connection in the same way, also one in the middle of a response.
    throw new Problem('unreachable', 'leads does not answer', 'check that it still runs in its terminal');
  }
}

const keyFragment = `#${keyParameter}=`;
const reloadItem = 'reload';

/** The key of the URL, which is retried when the program does not answer. */
let key: string | null = null;

/** Only in memory, because a browser soon writes `sessionStorage` to the disk. */
let session: WireSession | null = null;

/**
 * Exchanges the key of the URL for a session, or continues the session of this tab before a reload. Throws a
 * `Problem` where neither is possible.
 */
export async function openSession(): Promise<{ api: Api; inbox: WireInbox }> {
  if (location.hash.startsWith(keyFragment)) {
    key = location.hash.slice(keyFragment.length);
    // This comes first, so that a person who sees the screen or a bookmark does not see the key.
    history.replaceState(null, '', '#/');
  }
  session ??= await beginSession();
  sessionStorage.removeItem(reloadItem);
  const api = new Api(session.token);
  try {
    return { api, inbox: await api.get<WireInbox>('/api/inbox') };
  } catch (error) {
    if (problemOf(error).needsNewUrl) session = null;
    throw error;
  }
}

/** Tries the key, then the reload key. Throws the refusal of the first one where neither is accepted. */
async function beginSession(): Promise<WireSession> {
  const reloadKey = sessionStorage.getItem(reloadItem);
  let refusal: Problem | null = null;
  for (const body of [key !== null && { key }, reloadKey !== null && { reloadKey }]) {
    if (body === false) continue;
    try {
      return await send<WireSession>('/api/session', jsonPost(body));
    } catch (error) {
      const problem = problemOf(error);
      if (!problem.needsNewUrl) throw problem;
      refusal ??= problem;
    }
  }
  throw refusal ?? new Problem('no-token', 'this address has no key');
}

/** Keeps the reload key in the browser's storage only while the page reloads. */
export function watchReloads(): void {
  addEventListener('pagehide', () => session && sessionStorage.setItem(reloadItem, session.reloadKey));
  addEventListener('pageshow', () => session && sessionStorage.removeItem(reloadItem));
  // A new URL that is pasted into this tab changes only the fragment, which loads nothing by itself.
  addEventListener('hashchange', () => location.hash.startsWith(keyFragment) && location.reload());
}
