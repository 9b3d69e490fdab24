import { readFile } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { ConfigError, UsageError } from '../errors.ts';
import type { Secret } from '../secret.ts';
import { ask, readAll } from './prompt.ts';
import { parseSecret } from './secret-text.ts';

/** A secret from a file, or from stdin for `-`; surrounding white space goes. Throws for an empty or broken one. */
export async function secretFromFile(path: string, what: string, context: Context): Promise<Secret> {
  if (path === '-') return parseSecret(await readAll(context.stdin), what);
  try {
    return parseSecret(await readFile(path, 'utf8'), what);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new ConfigError(`cannot read the ${what} from ${path}: ${reason}`, { cause });
  }
}

/** Asks for a secret on a terminal, hidden, and reads stdin to its end otherwise. */
export async function secretFromPerson(what: string, context: Context): Promise<Secret> {
  if (context.stdin.isTTY !== true) return secretFromFile('-', what, context);
  return parseSecret(await ask(`${what}: `, context, { hidden: true }), what);
}
