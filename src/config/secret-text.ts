import { UsageError } from '../errors.ts';
import { Secret } from '../secret.ts';

/** One word of visible characters: anything else cannot stand in an HTTP header and is a mistake in copying. */
export function parseSecret(text: string, what: string): Secret {
  const word = text.trim();
  if (word === '') {
    throw new UsageError(`no ${what} was given`, {
      hint: 'type it, pipe it in, or name a file that holds it',
    });
  }
  if (!/^[\x21-\x7e]+$/.test(word)) {
    throw new UsageError(`the ${what} holds white space or other characters that cannot be part of it`);
  }
  return new Secret(word);
}
