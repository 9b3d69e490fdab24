import { readInput } from '../../files/read.ts';
import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { Secret } from '../../secret.ts';

/**
 * The secrets of files, one each; `-` is stdin. Throws a `ConfigError` for a file that cannot be read.
 */
export async function readSecrets(
  files: readonly string[],
  context: Pick<Context, 'stdin'>,
): Promise<Secret[]> {
  if (files.filter((file) => file === '-').length > 1) {
    throw new UsageError('stdin (-) can give one secret only');
  }
  const secrets: Secret[] = [];
  for (const file of files) {
    const text = await readInput(file, context.stdin, (why, cause) => {
      return new ConfigError(`cannot read the secret in ${file}: ${why}`, { cause });
    });
    secrets.push(new Secret(secretText(text.toString('utf8'))));
  }
  return secrets;
}

/** One line break at the end is the editor's, not the secret's. */
export const secretText = (text: string): string => text.replace(/\r?\n$/, '');
