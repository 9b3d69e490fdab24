import { readFile } from 'node:fs/promises';
import { unreadable } from '../../files/errors.ts';
import { ConfigError } from '../../errors.ts';
import { readDocument } from '../../json/scanner.ts';
import { didYouMean } from '../../output/suggest.ts';

export const isJson = (typed: string): boolean => /^\s*[[{]/.test(typed);

interface Expected {
  /** The flag or the setting that gave the text, for errors. */
  readonly where: string;
  readonly kind: 'scheme' | 'target';
  readonly names?: readonly string[];
}

/**
 * Parses a text that is JSON, or names a file that holds it. Throws a `ConfigError` that gives the place of the fault and
 * quotes no more than a character: the text may hold a secret.
 */
export async function jsonOrFile(typed: string, expected: Expected): Promise<unknown> {
  const isText = isJson(typed);
  const content = isText ? Buffer.from(typed) : await contentOf(typed, expected);
  const document = readDocument(content, `the ${expected.kind}`);
  if (document.ok) return JSON.parse(document.json.toString('utf8', document.start)) as unknown;
  throw new ConfigError(`${isText ? expected.where : typed}: ${document.detail}`);
}

async function contentOf(file: string, { where, kind, names = [] }: Expected): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new ConfigError(unreadable(`the ${kind} in ${file}`, cause), { cause });
    const name = file.replace(/\/\/\S*@/, '//…@');
    throw new ConfigError(`${where}: '${name}' is no ${kind}, and there is no such file`, {
      hint: didYouMean(file, names) ?? `see 'leads help ${kind}s', or give it as JSON or in a file`,
      cause,
    });
  }
}
