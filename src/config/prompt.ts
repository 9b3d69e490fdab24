import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Context, Input } from '../context.ts';
import { InterruptedError } from '../errors.ts';

/** Asks on the terminal; `hidden` shows nothing of what is typed. Ctrl-C interrupts, Ctrl-D gives an empty answer. */
export function ask(
  question: string,
  { stdin, stderr, signal }: Pick<Context, 'stdin' | 'stderr' | 'signal'>,
  { hidden = false } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    stderr.write(question);
    const lines = createInterface({ input: stdin, output: hidden ? silent : stderr, terminal: true });
    let echoed = false;
    const stop = (): void => {
      reject(signal.aborted ? (signal.reason as Error) : new InterruptedError('SIGINT'));
      lines.close();
    };
    signal.addEventListener('abort', stop, { once: true });
    lines.once('SIGINT', stop);
    lines.once('line', (line) => {
      echoed = !hidden;
      resolve(line.trim());
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', stop);
      if (!echoed) stderr.write('\n');
      resolve('');
    });
  });
}

/** All of a piped stdin as text. */
export async function readAll(stdin: Input): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array | string));
  return Buffer.concat(chunks).toString('utf8');
}
