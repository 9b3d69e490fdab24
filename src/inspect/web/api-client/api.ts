import { keyParameter, tokenHeader, type WireInbox, type WireProblem, type WireSession } from '../../wire.ts';
import { type AnswerSource, isAbort, Problem, problemOf } from './problem.ts';

interface Options {
  readonly method?: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Requests with the token of this session. Each throws a `Problem`, or an `AbortError` when it was cancelled. */
export class Api implements AnswerSource {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    const sent = this.#send(path, signal === undefined ? {} : { signal });
    return readWhole(sent, (answer) => answer.json() as Promise<Answer>);
  }

  async post<Answer>(path: string, body: unknown): Promise<Answer> {
    return readWhole(this.#send(path, posted(body)), (answer) => answer.json() as Promise<Answer>);
  }

  /** JSON, one value a line; ends with the answer. `onAlive` is called for whatever arrives. */
  async *lines<Line>(path: string, signal: AbortSignal, onAlive?: () => void): AsyncGenerator<Line> {
    const { body } = await this.#send(path, { signal });
    onAlive?.();
    if (body === null) return;
    try {
      for await (const line of readLines(body, onAlive)) yield JSON.parse(line) as Line;
    } catch (error) {
      throw asProblem(error);
    }
  }

  async blob(path: string): Promise<Blob> {
    return readWhole(this.#send(path, {}), (answer) => answer.blob());
  }

  async #send(path: string, options: Options): Promise<Response> {
    return send(path, { ...options, headers: { ...options.headers, [tokenHeader]: this.#token } });
  }
}

const posted = (body: unknown): Options => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function send(path: string, options: Options): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { cache: 'no-store', credentials: 'omit', redirect: 'error', ...options });
  } catch (error) {
    throw asProblem(error);
  }
  if (answer.ok) return answer;
  const problem = (await answer.json().catch(() => null)) as WireProblem | null;
  throw new Problem(
    problem?.code ?? 'bad-request',
    problem?.problem ?? `the program answered ${answer.status}`,
    problem?.hint,
  );
}

/** The program may end in the middle of an answer, too. */
async function readWhole<Value>(
  sent: Promise<Response>,
  read: (answer: Response) => Promise<Value>,
): Promise<Value> {
  const answer = await sent;
  try {
    return await read(answer);
  } catch (error) {
    throw asProblem(error);
  }
}

/** fetch says the same of every failure of a connection: a TypeError. */
function asProblem(error: unknown): unknown {
  if (isAbort(error) || !(error instanceof TypeError)) return error;
  return new Problem('unreachable', 'leads does not answer', 'check that it still runs in its terminal');
}

/** Lines that are not empty, as they arrive. `onAlive` is called for whatever arrives, empty lines too. */
async function* readLines(body: ReadableStream<Uint8Array>, onAlive?: () => void): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onAlive?.();
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') yield line;
    }
  } finally {
    // A caller that stops reading closes the connection with it; one that already broke off cannot be cancelled.
    await reader.cancel().catch(() => undefined);
  }
}

export const keyFragment = `#${keyParameter}=`;
const reloadItem = 'reload';

/** Until it was exchanged, so that it can be tried again where the program did not answer. */
let key: string | null = null;

/** In memory alone: what is in `sessionStorage` is on the disk soon, and stays there for a while. */
let session: WireSession | null = null;

/**
 * Exchanges the key of the address for a session; or goes on with that of this tab before it was loaded again, or of a tab
 * that is open. Throws a `Problem` where none of them is good.
 */
export async function openSession(): Promise<{ api: Api; inbox: WireInbox }> {
  const { hash } = location;
  if (hash.startsWith(keyFragment)) {
    // Before anything else: nobody who sees the screen or a bookmark sees the key.
    history.replaceState(null, '', '#/');
    key = hash.slice(keyFragment.length);
  }
  const { token } = (session ??= await beginSession());
  sessionStorage.removeItem(reloadItem);
  const api = new Api(token);
  try {
    return { api, inbox: await api.get<WireInbox>('/api/inbox') };
  } catch (error) {
    if (problemOf(error).needsNewUrl) session = null;
    throw error;
  }
}

async function beginSession(): Promise<WireSession> {
  let refused: Problem | null = null;
  for await (const body of credentials()) {
    try {
      return await readWhole(
        send('/api/session', posted(body)),
        (answer) => answer.json() as Promise<WireSession>,
      );
    } catch (error) {
      if (!problemOf(error).needsNewUrl) throw error;
      refused ??= problemOf(error);
    }
  }
  throw refused ?? new Problem('no-token', 'this address has no key');
}

/** What may begin a session: each one is asked for when the program knew none of those before. */
async function* credentials(): AsyncGenerator<object> {
  if (key !== null) yield { key };
  key = null;
  const kept = sessionStorage.getItem(reloadItem);
  if (kept !== null) yield { kept };
  for (const token of await tokensOfOpenTabs()) yield { kept: token };
}

/** A page that is loaded again goes on by a key that works once: of an open one nothing is in the browser's folder. */
export function keepOverReload(): void {
  addEventListener('pagehide', () => session && sessionStorage.setItem(reloadItem, session.reloadKey));
  addEventListener('pageshow', () => session && sessionStorage.removeItem(reloadItem));
}

/** Tabs of this origin, which a port is a part of, hear each other here. */
const channelName = 'session';
const asking = 'which token?';
const telling = 'a session began';

/** A tab that is there answers within this time; ms. */
const answerMs = 200;

async function tokensOfOpenTabs(): Promise<ReadonlySet<string>> {
  const channel = new BroadcastChannel(channelName);
  const tokens = new Set<string>();
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (typeof data === 'string' && data !== asking && data !== telling) tokens.add(data);
  });
  channel.postMessage(asking);
  await new Promise((resolve) => setTimeout(resolve, answerMs));
  channel.close();
  return tokens;
}

/** Tells tabs that wait for a session that there is one, and those that ask its token. */
export function answerOtherTabs(): void {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (data === asking && session !== null) channel.postMessage(session.token);
  });
  channel.postMessage(telling);
}

/** Calls back when a session began in another tab. */
export function onOtherSession(began: () => void): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => data === telling && began());
  return () => channel.close();
}

/** A new URL of the program pasted into this tab changes only the fragment, which loads nothing by itself. */
export function reloadOnNewKey(): void {
  addEventListener('hashchange', () => {
    if (location.hash.startsWith(keyFragment)) location.reload();
  });
}
