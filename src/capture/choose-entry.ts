import { UsageError } from '../errors.ts';
import type { CaptureOptions } from './capture.ts';

/** What tells one request of a capture from the others. */
export interface EntryHead {
  readonly method: string;
  readonly url: string;
  /** In lower case. */
  readonly headerNames: readonly string[];
}

const mostListed = 5;

/** Without the query, which may hold a credential. */
const place = (entry: EntryHead | undefined): string =>
  (entry?.url ?? '').replace(/[?#].*$/s, '').slice(0, 100);

/**
 * Index of the request that is meant: the one with the number that was given, the only one, the only POST, or the only
 * POST with a credential. Throws a `UsageError` where that leaves several, or the number none.
 */
export function chooseEntry(
  entries: readonly EntryHead[],
  form: string,
  { entry, credentialHeaders }: Pick<CaptureOptions, 'entry' | 'credentialHeaders'>,
): number {
  if (entry !== undefined) {
    if (entry <= entries.length) return entry - 1;
    throw new UsageError(`--entry ${entry}: ${form} holds ${entries.length}`);
  }
  const all = entries.map((_, index) => index);
  const posts = all.filter((index) => entries[index]?.method === 'POST');
  const signed = posts.filter((index) =>
    entries[index]?.headerNames.some((name) => credentialHeaders.includes(name)),
  );
  const only = [all, posts, signed].find((some) => some.length === 1)?.[0];
  if (only !== undefined) return only;
  const listed = signed.length > 0 ? signed : posts.length > 0 ? posts : all;
  const shown = listed.slice(0, mostListed).map((index) => `${index + 1} (${place(entries[index])})`);
  const more = listed.length > mostListed ? ', …' : '';
  throw new UsageError(`${form} holds several requests that may be meant: ${shown.join(', ')}${more}`, {
    hint: 'choose one with --entry N',
  });
}
