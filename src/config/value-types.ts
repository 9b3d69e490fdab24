import { Secret } from '../secret.ts';
import { formatPointer, parsePointer } from '../json/exact.ts';
import { parseDuration } from '../time/time-text.ts';
import { zoneNamed } from '../time/zone.ts';
import type { UsageError } from '../errors.ts';
import { noSecretGiven, secretWithBlanks } from './errors.ts';

/**
 * How a typed text becomes a checked value: of a flag, an argument or a setting. For a text that is no such value, `parse` returns
 * undefined, or throws an error that says more where it found out more. After undefined, `errorFor` is asked for an error to throw,
 * and where it has none, the error is made of `expected` and `suggest`.
 */
export interface ValueType<T> {
  readonly parse: (text: string) => T | undefined;
  /** Completes "'x' is not …". */
  readonly expected: string;
  readonly errorFor?: (text: string) => UsageError | undefined;
  /** Returns the value that a wrong text probably means. */
  readonly suggest?: (text: string) => string | undefined;
  readonly choices?: readonly string[];
  /** A text that is no such value is not quoted: it may hold a secret. */
  readonly isHidden?: true;
  /** The text that means stdin, which can be read only once. */
  readonly stdin?: string;
}

export const anyText: ValueType<string> = { parse: (text) => text, expected: 'a text' };

export const text: ValueType<string> = {
  parse: (typed) => (typed === '' ? undefined : typed),
  expected: 'a text with at least one character',
};

export const inputFile: ValueType<string> = { ...text, stdin: '-' };

/**
 * The name of a member such as `Lead ID`, or a path of names with dots between them. It is no word with another meaning in
 * a profile, no JSON Pointer, and no path with an empty name.
 */
export const fieldName: ValueType<string> = {
  parse: (typed) =>
    /^(?!(?:auto|none|null)$)[^\s./$][^./]*(?:\.[^./]+)*(?<!\s)$/.test(typed) ? typed : undefined,
  expected: 'the name of a field such as uuid, or of one inside an object such as contact.id',
  suggest: (typed) => stepsMeantBy(typed)?.join('.'),
};

export const memberNameOrAuto: ValueType<string> = {
  parse: (typed) => (/^[^\s./$][^\s./]*$/.test(typed) ? typed : undefined),
  expected: 'auto or the name of a field of the lead, such as status',
};

/** The name alone: `limit=100` would be sent as a name. The word `null` is the value null, not a name. */
export const parameterNameOrNull: ValueType<string | null> = {
  parse: (typed) => {
    if (typed === 'null') return null;
    return /^(?!(auto|none)$)[^\s&=?#]+$/.test(typed) ? typed : undefined;
  },
  expected: 'the name of a query parameter, or null: not sent',
  suggest: (typed) => (/^(none|false|no)$/i.test(typed) ? 'null' : /^[?&]?([\w$.[\]-]+)=/.exec(typed)?.[1]),
};

/** `example` fits the setting, `empty` says what an empty text means. */
export const pointerOrAuto = (example: string, empty: string): ValueType<string> => ({
  parse: (typed) => (typed === 'auto' || parsePointer(typed) !== undefined ? typed : undefined),
  expected: `auto, a JSON Pointer such as ${example}, or empty: ${empty}`,
  suggest: pointerMeantBy,
});

/** Returns `/meta/next` for `meta.next`, `$.meta.next` and `#/meta/next`. */
function pointerMeantBy(typed: string): string | undefined {
  const steps = stepsMeantBy(typed);
  return steps === undefined ? undefined : formatPointer(steps);
}

/** Returns the names in a path or a JSON Pointer of any notation, such as `$.meta.next`; undefined for another text. */
function stepsMeantBy(typed: string): readonly string[] | undefined {
  const steps = typed
    .replace(/^[$#]/, '')
    .replace(/\[['"]?|['"]?\]/g, '/')
    .split(/[./]+/)
    .filter(Boolean);
  const isPath = /^[\w$#.[\]'"/-]+$/.test(typed) && !/^(auto|none|null|false|no|off)$/i.test(typed);
  return isPath && steps.length > 0 ? steps : undefined;
}

/** The path of a list below the base URL, which may have a query. */
export const servicePath: ValueType<string> = {
  parse: (typed) => (/^\/[^\s#]*$/.test(typed) ? typed : undefined),
  expected: 'a path that starts with / and holds neither blanks nor #',
  suggest: (typed) => {
    if (URL.canParse(typed)) return new URL(typed).pathname + new URL(typed).search;
    return /^[\w.-][^\s#]*$/.test(typed) ? `/${typed}` : undefined;
  },
};

export function oneOf<const V extends string>(values: readonly V[]): ValueType<V> {
  return {
    parse: (typed) => values.find((value) => value === typed),
    expected: `one of ${values.join(', ')}`,
    choices: values,
  };
}

export const trueOrFalse: ValueType<boolean> = {
  parse: (typed) => (typed === 'true' ? true : typed === 'false' ? false : undefined),
  expected: 'true or false',
  choices: ['true', 'false'],
};

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): ValueType<number> {
  return {
    parse: (typed) => {
      const value = /^\d{1,16}$/.test(typed) ? Number(typed) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
    expected:
      max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`,
  };
}

export const duration: ValueType<number> = {
  parse: parseDuration,
  expected: 'a duration such as 500ms, 30s, 5m, 2h or 7d',
};

const durationFrom = (minMs: number, expected: string): ValueType<number> => ({
  parse: (typed) => {
    const ms = parseDuration(typed) ?? 0;
    return ms >= minMs ? ms : undefined;
  },
  expected,
});

/** Milliseconds, more than none: between two polls, or until a time-out. */
export const interval = durationFrom(
  Number.MIN_VALUE,
  'a duration above zero such as 500ms, 30s, 5m, 2h or 7d',
);

/** Milliseconds between two polls: a service is not asked more often than once a second. */
export const pollInterval = durationFrom(1000, 'a duration of a second or more, such as 30s, 5m or 2h');

export const timeZone: ValueType<string> = {
  parse: (typed) => (typed === '' ? undefined : zoneNamed(typed)),
  expected: 'a time zone such as Europe/Madrid or UTC',
};

/** A secret is a word of visible characters: other ones cannot stand in an HTTP header, and are a mistake in copying. */
export function parseSecret(text: string, label: string): Secret {
  const word = text.trim();
  if (word === '') throw noSecretGiven(label);
  if (!/^[\x21-\x7e]+$/.test(word)) throw secretWithBlanks(label);
  return new Secret(word);
}
