import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireValidJson } from './valid-json.ts';

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

const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));

/** The real program, plain HTTP on a free port, its secret in a file outside of its own directories. */
export async function overhear(flags: readonly string[], secret: string): Promise<Overheard> {
  const home = mkdtempSync(join(tmpdir(), 'leads-overheard-'));
  const file = join(mkdtempSync(join(tmpdir(), 'leads-secret-')), 'secret');
  writeFileSync(file, secret);
  const from = flags.some((word) => /^token$|"scheme":"token"/.test(word)) ? '--token-file' : '--secret-file';
  const inbox = join(home, 'inbox.db');
  const child = spawn(
    process.execPath,
    [bin, 'listen', '--http', '--port', '0', '--format', 'events', '--inbox', inbox, ...flags, from, file],
    { env: { PATH: process.env['PATH'], LEADS_DATA_DIR: home, LEADS_CONFIG_DIR: home } },
  );
  let [output, printed, answers] = ['', '', ''];
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`leads listen ended with ${String(code)}: ${output}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      printed += text;
      const found = /"url":"([^"]+)"/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url,
    async post(headers, body) {
      const answer = await postRaw(url, headers, body);
      answers += `${answer.text}\n`;
      return answer;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGINT');
      await exited;
      requireValidJson(['listen', '--format', 'events'], printed, '');
      const files = readdirSync(home).map((name) => readFileSync(join(home, name), 'latin1'));
      return [output, answers, ...files].join('\n');
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
