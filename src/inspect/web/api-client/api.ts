import { keyParameter, tokenHeader, type WireInbox, type WireProblem, type WireSession } from '../../wire.ts';
import { type AnswerSource, isAbort, Problem, problemOf } from './problem.ts';

/** A program that answers nothing for so long is taken for one that ended; ms. */
const answerMs = 10_000;

/** Requests with the token of this session. Each throws a `Problem`, or an `AbortError` when it was cancelled. */
export class Api implements AnswerSource {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(token: string) {
    this.#headers = { [tokenHeader]: token };
  }

  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    const signals = [AbortSignal.timeout(answerMs), ...(signal === undefined ? [] : [signal])];
    return send(path, { headers: this.#headers, signal: AbortSignal.any(signals) }, asJson<Answer>);
  }

  post<Answer>(path: string, body: unknown): Promise<Answer> {
    return send(path, posted(body, this.#headers), asJson<Answer>);
  }

  blob(path: string): Promise<Blob> {
    return send(path, { headers: this.#headers }, (answer) => answer.blob());
  }
}

const asJson = <Answer>(answer: Response): Promise<Answer> => answer.json() as Promise<Answer>;

const posted = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

async function send<Value>(
  path: string,
  options: RequestInit,
  read: (answer: Response) => Promise<Value>,
): Promise<Value> {
  try {
    const answer = await fetch(path, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      ...options,
    });
    if (answer.ok) return await read(answer);
    const problem = (await answer.json().catch(() => null)) as WireProblem | null;
    throw new Problem(
      problem?.code ?? 'bad-request',
      problem?.problem ?? `the program answered ${answer.status}`,
      problem?.hint,
    );
  } catch (error) {
    if (error instanceof Problem || isAbort(error)) throw error;
    // fetch says the same of every failure of a connection, and the program may end in the middle of an answer, too.
    throw new Problem('unreachable', 'leads does not answer', 'check that it still runs in its terminal');
  }
}

export const keyFragment = `#${keyParameter}=`;
const reloadItem = 'reload';

/** Until it was exchanged, so that it can be tried again where the program did not answer. */
let key: string | null = null;

/** In memory alone: what is in `sessionStorage` is on the disk soon, and stays there for a while. */
let session: WireSession | null = null;

/**
 * Exchanges the key of the address for a session, or goes on with the one of this tab before it was loaded again. Throws a
 * `Problem` where there is none.
 */
export async function openSession(): Promise<{ api: Api; inbox: WireInbox }> {
  const { hash } = location;
  if (hash.startsWith(keyFragment)) {
    // Before anything else: nobody who sees the screen or a bookmark sees the key.
    history.replaceState(null, '', '#/');
    key = hash.slice(keyFragment.length);
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

/** The reload key counts where the address was opened before. */
async function beginSession(): Promise<WireSession> {
  const reloadKey = sessionStorage.getItem(reloadItem);
  let refused: Problem | null = null;
  for (const body of [key !== null && { key }, reloadKey !== null && { reloadKey }]) {
    if (body === false) continue;
    try {
      return await send('/api/session', posted(body), asJson<WireSession>);
    } catch (error) {
      const problem = problemOf(error);
      if (!problem.needsNewUrl) throw problem;
      refused ??= problem;
    }
  }
  throw refused ?? new Problem('no-token', 'this address has no key');
}

/** A page that is loaded again goes on by a key that works once: of an open one nothing is in the browser's folder. */
export function keepOverReload(): void {
  addEventListener('pagehide', () => session && sessionStorage.setItem(reloadItem, session.reloadKey));
  addEventListener('pageshow', () => session && sessionStorage.removeItem(reloadItem));
}

/** A new URL of the program pasted into this tab changes only the fragment, which loads nothing by itself. */
export function reloadOnNewKey(): void {
  addEventListener('hashchange', () => {
    if (location.hash.startsWith(keyFragment)) location.reload();
  });
}
