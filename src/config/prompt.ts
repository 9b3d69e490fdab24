import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ConfigError, InterruptedError } from '../errors.ts';
import type { Host } from '../host.ts';
import { readSecretText } from '../files/read.ts';
import type { Secret } from '../secret.ts';
import { parseSecret } from './value-types.ts';

type PromptContext = Pick<Host, 'stdin' | 'stderr' | 'signal'>;

/** Asks on the terminal; `hidden` shows nothing of the answer. Ctrl-C interrupts, Ctrl-D gives an empty answer. */
export function ask(
  question: string,
  { stdin, stderr, signal }: PromptContext,
  { hidden = false } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    stderr.write(question);
    const lines = createInterface({
      input: stdin,
      output: hidden ? silent : stderr,
      terminal: true,
      prompt: question,
    });
    // After Ctrl-Z and fg, node leaves stdin paused, and a hidden question is not drawn again.
    lines.on('SIGCONT', () => {
      if (hidden) stderr.write(question);
      lines.resume();
    });
    // The line break that ends a hidden answer, or a missing one, is not on the terminal.
    let isLineEnded = false;
    const stop = (): void => {
      reject(signal.aborted ? (signal.reason as Error) : new InterruptedError('SIGINT'));
      lines.close();
    };
    signal.addEventListener('abort', stop, { once: true });
    lines.once('SIGINT', stop);
    lines.once('line', (line) => {
      isLineEnded = !hidden;
      resolve(line.trim());
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', stop);
      if (!isLineEnded) stderr.write('\n');
      resolve('');
    });
  });
}

/** Reads a secret from a file, or from stdin for `-`, without white space around it. Throws for an empty or broken one. */
export async function secretFromFile(path: string, label: string, context: PromptContext): Promise<Secret> {
  const text = await readSecretText(path, context.stdin, label);
  if (path !== '-' && text.trim() === '') throw new ConfigError(`the ${label} in ${path} is empty`);
  return parseSecret(text, label);
}

/** Asks for a secret on a terminal, hidden, and reads stdin to its end otherwise. */
export async function secretFromPerson(label: string, context: PromptContext): Promise<Secret> {
  if (context.stdin.isTTY !== true) return secretFromFile('-', label, context);
  return parseSecret(await ask(`${label}: `, context, { hidden: true }), label);
}
