import { parseDuration } from '../time/time-text.ts';
import { schemeNames } from './presets.ts';
import { configError } from './problems.ts';
import {
  type PartKey,
  type SchemeOptions,
  schemePartKeys,
  schemeParts,
  strayPart,
} from './scheme-options.ts';

/** A scheme with its options, as it is written down; a secret is no part of it. */
export interface SchemeDefinition {
  readonly name: string;
  readonly options: SchemeOptions;
}

type Members = Readonly<Record<string, unknown>>;

const optionKeys = ['tolerance', 'publicUrl'] as const;

/**
 * Reads a scheme that was written as JSON: `scheme` (default `custom`), its parts, `tolerance` and `publicUrl`. Throws a
 * `ConfigError` for anything else: a misspelt part would check less than was meant.
 */
export function readSchemeDefinition(json: unknown): SchemeDefinition {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw configError({ kind: 'scheme-is-no-object' });
  }
  const { version = 1, scheme: name = 'custom', tolerance, publicUrl, require, ...others } = json as Members;
  if (version !== 1) throw configError({ kind: 'scheme-of-newer-version', version: String(version) });
  // A list may be written as one text, as in the settings of earlier releases.
  const list = typeof require === 'string' ? require.split(',').map((part) => part.trim()) : require;
  const parts = list === undefined ? others : { ...others, require: list };
  if (typeof name !== 'string' || !schemeNames.includes(name)) {
    throw configError({ kind: 'unknown-scheme', name: String(name), known: schemeNames });
  }
  const toleranceMs = typeof tolerance === 'string' ? parseDuration(tolerance) : undefined;
  if (tolerance !== undefined && toleranceMs === undefined)
    throw wrongPart('tolerance', 'a duration such as 5m');
  const isUrl = typeof publicUrl === 'string' && URL.canParse(publicUrl);
  if (publicUrl !== undefined && !isUrl) throw wrongPart('publicUrl', 'a URL');
  return {
    name,
    options: {
      ...schemePartsOf(name, parts),
      toleranceMs,
      publicUrl: isUrl ? new URL(publicUrl) : undefined,
    },
  };
}

/** The parts that a scheme of this name has. Throws a `ConfigError` for one that is misspelt, of another scheme, or no such value. */
export function schemePartsOf(
  name: string,
  members: Members,
  others: readonly string[] = ['scheme', ...optionKeys],
): SchemeOptions {
  const parts = Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => {
      const part = schemePartKeys.find((known) => known === key);
      if (part === undefined) {
        throw configError({ kind: 'unknown-scheme-part', part: key, known: [...others, ...schemePartKeys] });
      }
      return value === undefined ? [] : [[part, partValue(part, value)] as const];
    }),
  );
  const stray = strayPart(parts, name);
  if (stray === undefined) return parts;
  throw configError({ kind: 'stray-scheme-part', part: stray, of: schemeParts[stray].of, scheme: name });
}

function partValue(part: PartKey, value: unknown): unknown {
  const { values, isList } = schemeParts[part];
  if (isList === true) {
    if (Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '')) return value;
    throw wrongPart(part, 'a list of texts');
  }
  if (typeof value !== 'string' || (value === '' && part !== 'prefix')) throw wrongPart(part, 'a text');
  if (values?.includes(value) === false)
    throw wrongPart(part, values.join(', ').replace(/^(.*), /, '$1 or '));
  return value;
}

const wrongPart = (part: string, expected: string): Error =>
  configError({ kind: 'wrong-scheme-part', part, expected });
