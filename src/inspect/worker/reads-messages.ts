import type { Reads } from '../reads/reads.ts';

/** The questions that have one answer. */
export type Question = Exclude<keyof Reads, 'search' | 'close'>;

/** What the thread that reads is asked; `id` names the question in what it answers. */
export type ReadsRequest =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question; readonly values: unknown[] }
  | { readonly kind: 'search'; readonly id: number; readonly query: Parameters<Reads['search']>[0] }
  /** One more line of a search. */
  | { readonly kind: 'next'; readonly id: number }
  /** A search is not wanted any more. */
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number };

export type ReadsResponse =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | {
      readonly kind: 'failure';
      readonly id: number;
      readonly message: string;
      readonly hint: string | undefined;
      /** Of an error of `errors.ts`. */
      readonly code: string | undefined;
    };

/** A thread's end of the messages. */
export interface ReadsPort {
  on(event: 'message', listener: (message: ReadsRequest) => void): unknown;
  postMessage(message: ReadsResponse): void;
}
