import type { HandedKind, HandedResult, Source, StoredResult } from './inbox.ts';
import { targetAddress } from './target-name.ts';

const kinds: readonly HandedKind[] = ['forward', 'retry', 'replay', 'repair'];

/**
 * An answer with the kind and the address behind it, each after a tab: the release before writes the same inbox at the same
 * time, and knows no further column.
 */
export function storedAnswer({ answer, kind }: HandedResult, target: string): string {
  return kind === undefined ? answer : `${answer}\t${kind}\t${targetAddress(target) ?? ''}`;
}

/** Of a release that kept none, the kind and the address are undefined. `source`: of the delivery. */
export function readAnswer(text: string, source: Source): Pick<StoredResult, 'answer' | 'kind' | 'address'> {
  const [, answer = '', name, address = ''] = /^(.*)\t(\w+)\t(\S*)$/s.exec(text) ?? [];
  const known = kinds.find((kind) => kind === name);
  if (known === undefined) return { answer: text, kind: undefined, address: undefined };
  const kind = known === 'forward' && source === 'backfill' ? 'repair' : known;
  return { answer, kind, address: address === '' ? undefined : address };
}
