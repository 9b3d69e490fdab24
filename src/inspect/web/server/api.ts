import { tokenHeader, type WireProblem } from '../../wire.ts';
import type { AnswerSource } from './answer-source.ts';
import { isAbort, Problem } from './problem.ts';
import { readLines } from './read-lines.ts';

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
    const sent = this.#send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return readWhole(sent, (answer) => answer.json() as Promise<Answer>);
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

export async function send(path: string, options: Options): Promise<Response> {
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
