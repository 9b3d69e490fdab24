import { DataError } from '../errors.ts';

/** What is wrong with JSON that came from outside. A `nth` counts records, or elements, of a page from 1. */
export type JsonProblem =
  /** `offset` is the place of the unexpected byte in the whole answer, `nth` the record that it is in, if it is in one. */
  | {
      readonly kind: 'invalid-json';
      readonly byte: number;
      readonly offset: number;
      readonly nth: number | undefined;
    }
  | { readonly kind: 'invalid-utf8'; readonly nth: number | undefined }
  /** Of objects, both in usual places; places here and below are JSON Pointers. */
  | { readonly kind: 'two-arrays'; readonly place: string; readonly other: string }
  /** `place` is where it was looked for, undefined for the usual places; `others` are those of other arrays of objects. */
  | { readonly kind: 'no-array'; readonly place: string | undefined; readonly others: readonly string[] }
  /** A record, or the rest of the answer beside them. */
  | { readonly kind: 'too-large-to-read'; readonly maxBytes: number; readonly nth: number | undefined }
  | { readonly kind: 'record-is-no-object'; readonly nth: number }
  /** `isLearnt`: the elements before it hold one there. */
  | {
      readonly kind: 'no-lead-in-element';
      readonly place: string;
      readonly nth: number;
      readonly isLearnt: boolean;
    }
  /** A member that stands beside the lead of one element and of none before it would be lost. */
  | {
      readonly kind: 'member-beside-lead';
      readonly place: string;
      readonly name: string;
      readonly nth: number;
    }
  /** On the way to a change: names of members, and numbers of array elements. */
  | {
      readonly kind: 'no-members-there';
      readonly path: readonly string[];
      readonly change: readonly string[];
    }
  | { readonly kind: 'no-such-element'; readonly path: readonly string[]; readonly step: string }
  /** Of a stream of leads. */
  | { readonly kind: 'json-ends-early'; readonly offset: number }
  | { readonly kind: 'unexpected-byte'; readonly byte: number; readonly offset: number }
  | { readonly kind: 'endless-object'; readonly offset: number };

export const jsonError = (problem: JsonProblem): DataError => new DataError(problem);
