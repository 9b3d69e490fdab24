import { readFile } from 'node:fs/promises';
import { unreadable } from '../../files/errors.ts';
import { ConfigError } from '../../errors.ts';
import { readDocument } from '../../json/scanner.ts';
import { documentDetail } from '../../json/document-detail.ts';
import { didYouMean } from '../../output/suggest.ts';

export const isJson = (typed: string): boolean => /^\s*[[{]/.test(typed);

/**
 * A `scheme` or `target` that is JSON itself, or in a file. Throws a `ConfigError` that says the place of what is wrong and
 * quotes no more than a character: the text may hold a secret.
 */
export async function jsonOrFile(
  typed: string,
  { where, what, known = [] }: { where: string; what: 'scheme' | 'target'; known?: readonly string[] },
): Promise<unknown> {
  const isText = isJson(typed);
  const document = readDocument(isText ? Buffer.from(typed) : await contentOf(typed));
  if (document.ok) return JSON.parse(document.json.toString('utf8', document.start)) as unknown;
  throw new ConfigError(`${isText ? where : typed}: ${documentDetail(document.fault, `the ${what}`)}`);

  async function contentOf(file: string): Promise<Uint8Array> {
    try {
      return await readFile(file);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== 'ENOENT') {
        throw new ConfigError(unreadable(`the ${what} in ${file}`, cause), { cause });
      }
      const shown = file.replace(/\/\/\S*@/, '//…@');
      throw new ConfigError(`${where}: '${shown}' is no ${what}, and there is no such file`, {
        hint: didYouMean(file, known) ?? `see 'leads help ${what}s', or give it as JSON or in a file`,
        cause,
      });
    }
  }
}
