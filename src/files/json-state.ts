import * as z from 'zod/mini';
import { jsonIn } from '../json/exact.ts';
import { stateInvalid, stateNotJson, stateOfNewerVersion, stateUnreadable } from './errors.ts';
import { readIfExists } from './read.ts';
import { replaceFile } from './replace.ts';

/**
 * Reads a small JSON file that an earlier run wrote, and checks it against its schema, which contains its `version`.
 * Undefined when there is none. Throws a `DataError` for one that is corrupt or of another version: it is never overwritten.
 */
export async function readJsonState<S extends z.ZodMiniType>(
  path: string,
  schema: S,
  what: string,
): Promise<z.output<S> | undefined> {
  const text = await readIfExists(path).catch((cause: unknown) => {
    throw stateUnreadable(what, path, cause as NodeJS.ErrnoException);
  });
  if (text === undefined) return undefined;
  const json = jsonIn(text);
  if (json === undefined) throw stateNotJson(what, path);
  const parsed = z.safeParse(schema, json);
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join('.') ?? '';
  if (at === 'version' && isVersion(json)) throw stateOfNewerVersion(what, path);
  throw stateInvalid(what, path, at, parsed.error);
}

/** Each one so far can be read, so another one is of a newer release. */
export const isVersion = (json: unknown): boolean => {
  const { version } = Object(json) as { readonly version?: unknown };
  return Number.isSafeInteger(version) && Number(version) > 1;
};

/** Replaces such a file durably in one step; the caller holds the lock of the export that it belongs to. */
export function writeJsonState(path: string, state: unknown): Promise<void> {
  return replaceFile(path, `${JSON.stringify(state)}\n`, { isLocked: true });
}
