import * as z from 'zod/mini';
import { jsonIn } from '../json/exact.ts';
import { stateInvalid, stateNotJson, stateOfNewerVersion, stateUnreadable } from './errors.ts';
import { readIfExists } from './read.ts';
import { replaceFile } from './replace.ts';

/**
 * Reads a file of this program's state, which `stateName` names in errors; undefined when there is no file. Throws a `DataError`
 * for a file that is corrupt or of another version, which is never overwritten.
 */
export async function readJsonState<S extends z.ZodMiniType>(
  path: string,
  schema: S,
  stateName: string,
): Promise<z.output<S> | undefined> {
  const text = await readIfExists(path).catch((cause: unknown) => {
    throw stateUnreadable(stateName, path, cause);
  });
  if (text === undefined) return undefined;
  const json = jsonIn(text);
  if (json === undefined) throw stateNotJson(stateName, path);
  const parsed = z.safeParse(schema, json);
  if (parsed.success) return parsed.data;
  const place = parsed.error.issues[0]?.path.join('.') ?? '';
  if (place === 'version' && isNewerVersion(json)) throw stateOfNewerVersion(stateName, path);
  throw stateInvalid(stateName, path, place, parsed.error);
}

/** Versions are counted from 1, which this release reads, so any other is of a newer release. */
export const isNewerVersion = (json: unknown): boolean => {
  const { version } = Object(json) as { readonly version?: unknown };
  return Number.isSafeInteger(version) && Number(version) > 1;
};

export function writeJsonState(path: string, state: unknown): Promise<void> {
  return replaceFile(path, `${JSON.stringify(state)}\n`, { isLocked: true });
}

type Identity = Readonly<Record<string, unknown>>;

/** The names of the facts that must be the same for a run that continues, and are not. */
export const differencesOf = (before: Identity, now: Identity): readonly string[] =>
  Object.keys({ ...before, ...now }).filter(
    (name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]),
  );
