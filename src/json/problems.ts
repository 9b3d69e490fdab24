import { DataError, type KindsOf } from '../errors.ts';

/** What is wrong with JSON that came from outside. A `nth` counts records, or elements, of a page from 1. */
export type JsonProblem = KindsOf<{
  /** `offset` is the place of the unexpected byte in the whole answer, `nth` the record that it is in, if it is in one, and `id` that of
   * the record, where it can be read. */
  'invalid-json': { byte: number; offset: number; nth: number | undefined; id: string | undefined };
  'invalid-utf8': { nth: number | undefined; id: string | undefined };
  /** Of objects, both in usual places; places here and below are JSON Pointers. */
  'two-arrays': { place: string; other: string };
  /** The member with the records is there once more, and not empty. */
  'array-twice': { place: string };
  /** `place` is where it was looked for, undefined for the usual places; `others` are those of other arrays of objects. */
  'no-array': { place: string | undefined; others: readonly string[] };
  /** A record, or the rest of the answer beside them. */
  'too-large-to-read': { maxBytes: number; nth: number | undefined };
  'record-is-no-object': { nth: number };
  /** `isLearnt`: the elements before it hold one there. */
  'no-lead-in-element': { place: string; nth: number; isLearnt: boolean };
  /** A member that stands beside the lead of one element and of none before it would be lost. */
  'member-beside-lead': { place: string; name: string; nth: number };
  /** On the way to a change: names of members, and numbers of array elements. */
  'no-members-there': { path: readonly string[]; change: readonly string[] };
  'no-such-element': { path: readonly string[]; step: string };
  /** Of a stream of leads. */
  'json-ends-early': { offset: number };
  'unexpected-byte': { byte: number; offset: number };
  'endless-object': { offset: number };
}>;

export const jsonError = (problem: JsonProblem): DataError => new DataError(problem);
