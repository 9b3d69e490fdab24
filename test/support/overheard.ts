import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { textsIn } from './files-in.ts';
import { listenProcess } from './listen-process.ts';
import { freshHome } from './run.ts';

type Headers = readonly (readonly [string, string])[];

interface Answered {
  readonly status: number;
  /** The headers as JSON, and the body. */
  readonly text: string;
}

/** What `leads listen` was told, and everything that it let out. */
export interface Overheard {
  readonly url: string;
  post(headers: Headers, body: Uint8Array): Promise<Answered>;
  /** Ctrl-C; gives output, answers and every file that was written, one after the other. */
  stop(): Promise<string>;
}

/** The real program, plain HTTP on a free port, its secret in a file outside of its own directories. */
export async function overhear(flags: readonly string[], secret: string): Promise<Overheard> {
  const home = freshHome();
  const file = join(freshHome(), 'secret');
  writeFileSync(file, secret);
  const from = flags.some((word) => /^token$|"scheme":"token"/.test(word)) ? '--token-file' : '--secret-file';
  const words = ['--http', '--port', '0', '--format', 'events', '--inbox', join(home, 'inbox.db')];
  const listener = await listenProcess([...words, ...flags, from, file], { home });
  let answers = '';
  return {
    url: listener.url,
    async post(headers, body) {
      const answer = await postRaw(listener.url, headers, body);
      answers += `${answer.text}\n`;
      return answer;
    },
    async stop() {
      await listener.end('SIGINT');
      return [listener.stdout(), listener.stderr(), answers, textsIn(home)].join('\n');
    },
  };
}

/** Sends one request over plain HTTP, repeated headers and all. */
export async function postRaw(url: string, headers: Headers, body: Uint8Array): Promise<Answered> {
  const sent = request(`${url}/`, {
    method: 'POST',
    headers: [
      ...['Host', new URL(url).host, 'Content-Type', 'application/json'],
      ...['Content-Length', String(body.length), ...headers.flat()],
    ],
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = `${JSON.stringify(answer.rawHeaders)}\n`;
  for await (const chunk of answer.setEncoding('utf8')) text += chunk as string;
  return { status: answer.statusCode ?? 0, text };
}
