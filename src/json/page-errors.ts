import { isUtf8 } from 'node:buffer';
import { DataError } from '../errors.ts';
import { describeByte } from './bytes.ts';
import { formatPointer } from './exact.ts';
import type { ArrayPlace } from './find-array.ts';

/** The name of a record in messages; `nth` counts from 1. */
const recordName = (nth: number): string => `lead ${nth} of the page`;

/** `offset` is the place of the unexpected byte in the whole answer, `nth` the record that it is in, if it is in one. */
export function invalidJson(byte: number, offset: number, nth: number | undefined): DataError {
  const where = nth === undefined ? '' : `, in ${recordName(nth)}`;
  return new DataError(
    `the answer is not valid JSON: unexpected ${describeByte(byte)} at byte ${offset}${where}`,
    {
      hint:
        offset === 0
          ? "the base URL or the path may be another one: 'leads config get base-url', 'leads config get api.path'"
          : undefined,
    },
  );
}

/** For bytes that are no UTF-8; `before` is how many records precede `records`, one of which may hold them. */
export function invalidUtf8(records: readonly { readonly bytes: Uint8Array }[] = [], before = 0): DataError {
  const index = records.findIndex((record) => !isUtf8(record.bytes));
  const where = index < 0 ? '' : `, in ${recordName(before + index + 1)}`;
  return new DataError(`the answer is not valid JSON: bytes that are not UTF-8${where}`);
}

export const twoArrays = (path: readonly string[], other: readonly string[]): DataError =>
  new DataError(
    `the answer holds two arrays of objects: ${formatPointer(path)} and ${formatPointer(other)}`,
    {
      hint: `say which one holds the leads: leads config set api.items ${formatPointer(path)}`,
    },
  );

/** `others` are the paths of arrays of objects in places that were not looked for. */
export function noArray(target: ArrayPlace, others: readonly (readonly string[])[]): DataError {
  const message =
    target === 'auto'
      ? 'the answer holds no array of leads in a usual place'
      : `the answer holds no array at ${formatPointer(target)}`;
  const [first] = others.map(formatPointer);
  return new DataError(message, {
    hint:
      first === undefined
        ? 'api.path may name another operation; see: leads config get api.path'
        : `if the leads are at ${others.map(formatPointer).join(' or ')}: leads config set api.items ${first}`,
  });
}

/** `nth` is the record that is too large; undefined when it is the rest of the answer. */
export function tooLargeToRead(maxBytes: number, nth: number | undefined): DataError {
  const limit = `${maxBytes / 1024 / 1024} MiB`;
  return new DataError(
    nth === undefined
      ? `the answer holds more than ${limit} beside the leads`
      : `${recordName(nth)} is larger than ${limit}`,
  );
}

/** An element of the page in which no lead is found: no other reading of the page would bring it. */
export class UnreadableElementError extends DataError {}

export const noObject = (nth: number): UnreadableElementError =>
  new UnreadableElementError(`${recordName(nth)} is not a JSON object`, {
    hint: 'api.items may name another array: leads config get api.items',
  });

const wholeElements = "to take the elements whole: leads config set api.item ''";

/** `path` is where the lead should be in the element; `auto` found it there in the elements before. */
export function noLeadAt(path: readonly string[], nth: number, item?: 'auto'): UnreadableElementError {
  const place = formatPointer(path);
  return new UnreadableElementError(
    `element ${nth} of the page holds no lead: there is no object at ${place}`,
    {
      hint:
        item === 'auto'
          ? `the elements before it hold one there; ${wholeElements}`
          : `see: leads config get api.item; ${wholeElements}`,
    },
  );
}

/** A member that stands beside the lead of one element and of none before it would be lost. */
export function besideLead(path: readonly string[], name: string, nth: number): UnreadableElementError {
  const place = formatPointer(path);
  return new UnreadableElementError(
    `element ${nth} of the page is not like those before it: '${name}' stands beside ${place}`,
    { hint: `to leave out what stands beside: leads config set api.item ${place}; ${wholeElements}` },
  );
}
