import { readFile } from 'node:fs/promises';
import { ConfigError } from '../../../errors.ts';
import { schemeNames } from '../../../webhook/scheme-names.ts';
import { schemePartKeys, strayPart } from '../../../webhook/schemes/scheme-parts.ts';
import { parseParts, type StoredParts } from './stored-parts.ts';

/** A scheme that is kept in a file of its own. */
export interface SchemeFile {
  /** Default `custom`. */
  readonly scheme: string;
  readonly parts: StoredParts;
}

/**
 * Reads `--scheme-file`: a JSON object with the names of the flags in camelCase, every value a text, and perhaps `scheme`
 * and `tolerance`. Throws a `ConfigError` for anything else: a misspelt part would check less than was meant.
 */
export async function readSchemeFile(path: string): Promise<SchemeFile> {
  const { scheme = 'custom', ...texts } = asTexts(await parse(path), path);
  if (!schemeNames.includes(scheme)) {
    throw new ConfigError(`${path}: the scheme '${scheme}' is unknown`, {
      hint: `it must be one of ${schemeNames.join(', ')}`,
    });
  }
  const known = [...schemePartKeys, 'tolerance'];
  const stray = Object.keys(texts).find((key) => !known.some((name) => name === key));
  if (stray !== undefined) {
    throw new ConfigError(`${path}: '${stray}' is no part of a scheme`, {
      hint: /secret|token/i.test(stray)
        ? 'a secret is given by --secret-file or LEADS_WEBHOOK_SECRET, not in this file'
        : `the parts are scheme, ${known.join(', ')}`,
    });
  }
  const parts = parseParts(
    texts,
    (key, text, expected) => new ConfigError(`${path}: ${key} '${text}' is not ${expected}`),
  );
  const ignored = strayPart(parts, scheme);
  if (ignored !== undefined)
    throw new ConfigError(`${path}: ${ignored} is no part of the scheme '${scheme}'`);
  return { scheme, parts };
}

async function parse(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what = cause instanceof SyntaxError ? 'it is not JSON' : (code ?? String(cause));
    throw new ConfigError(`cannot read the scheme in ${path}: ${what}`, { cause });
  }
}

function asTexts(json: unknown, path: string): Readonly<Record<string, string>> {
  const entries =
    typeof json === 'object' && json !== null && !Array.isArray(json) ? Object.entries(json) : undefined;
  if (entries === undefined) throw new ConfigError(`${path}: a scheme is a JSON object`);
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (typeof value === 'string') return [key, value];
      throw new ConfigError(`${path}: ${key} is not a text`, { hint: `write it as "${key}": "…"` });
    }),
  );
}
