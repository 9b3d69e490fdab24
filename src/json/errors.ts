import { DataError } from '../errors.ts';
import type { Front } from '../front.ts';
import { describeByte } from './bytes.ts';
import { formatPointer } from './exact.ts';

/** `nth` counts the records of a page from 1. */
const recordName = (nth: number): string => `lead ${nth} of the page`;
const inRecord = (nth: number | undefined, id: string | undefined): string =>
  nth === undefined ? '' : `, in ${recordName(nth)}${id === undefined ? '' : `, ${id}`}`;

const leaveOut = "to leave out such a record: 'leads export --skip-invalid'";

const wholeElements = (front: Front): string => `to take the elements whole: ${front.set('api.item', '""')}`;

export const otherPlace = (front: Front): string =>
  `the base URL or the path may be another one: ${front.get('base-url')}, ${front.get('api.path')}`;

/** `offset` is that of the byte in the whole answer; `nth` and `id` name the record around it. */
export const invalidJson = (byte: number, offset: number, nth?: number, id?: string) =>
  new DataError(
    `the answer is not valid JSON: unexpected ${describeByte(byte)} at byte ${offset}${inRecord(nth, id)}`,
    { hint: offset === 0 ? otherPlace : nth === undefined ? undefined : leaveOut },
  );

export const invalidUtf8 = (nth?: number, id?: string) =>
  new DataError(`the answer is not valid JSON: bytes that are not UTF-8${inRecord(nth, id)}`, {
    hint: nth === undefined ? undefined : leaveOut,
  });

export const twoArrays = (path: readonly string[], secondPath: readonly string[]) =>
  new DataError(
    `the answer holds two arrays of objects: ${formatPointer(path)} and ${formatPointer(secondPath)}`,
    { hint: (front) => `say which one holds the leads: ${front.set('api.items', formatPointer(path))}` },
  );

export const arrayTwice = (path: readonly string[]) =>
  new DataError(`the answer holds ${formatPointer(path)} twice, each time with leads`);

/** The array was looked for at `place`; `arrays` are the places of other arrays of objects. */
export const noArray = (place: readonly string[] | 'auto', arrays: readonly (readonly string[])[]) =>
  new DataError(
    place === 'auto'
      ? 'the answer holds no array of leads in a usual place'
      : `the answer holds no array at ${formatPointer(place)}`,
    {
      hint(front) {
        const [first, ...more] = arrays.map(formatPointer);
        return first === undefined
          ? `the path may be another one: ${front.get('api.path')}`
          : `if the leads are at ${[first, ...more].join(' or ')}: ${front.set('api.items', first)}`;
      },
    },
  );

export function tooLargeToRead(maxBytes: number, nth: number | undefined) {
  const limit = `${maxBytes / 1024 / 1024} MiB`;
  return new DataError(
    nth === undefined
      ? `the answer holds more than ${limit} beside the leads`
      : `${recordName(nth)} is larger than ${limit}`,
  );
}

export const recordIsNoObject = (nth: number) =>
  new DataError(`${recordName(nth)} is not a JSON object`, {
    kind: 'record-is-no-object',
    hint: (front) => `another array may hold the leads: ${front.get('api.items')}`,
  });

export const noLeadInElement = (place: string, nth: number, source: 'dialect' | 'elements before') =>
  new DataError(`element ${nth} of the page holds no lead: there is no object at ${place}`, {
    kind: 'no-lead-in-element',
    hint(front) {
      const reason =
        source === 'dialect' ? `see: ${front.get('api.item')}` : 'the elements before it hold one there';
      return `${reason}; ${wholeElements(front)}`;
    },
  });

/** A member that only this element has beside the lead would be lost. */
export const memberBesideLead = (place: string, name: string, nth: number) =>
  new DataError(`element ${nth} of the page is not like those before it: '${name}' stands beside ${place}`, {
    kind: 'member-beside-lead',
    hint: (front) =>
      `to leave out what stands beside: ${front.set('api.item', place)}; ${wholeElements(front)}`,
  });

export const noMembersThere = (path: readonly string[], change: readonly string[]) =>
  new DataError(`'${path.join('.')}' has no members: '${change.join('.')}' cannot be changed`);

export const noSuchElement = (path: readonly string[], step: string) =>
  new DataError(`'${path.join('.')}' has no element ${step}`);

export const jsonEndsEarly = (offset: number) => new DataError(`the JSON ends too early, at byte ${offset}`);

export const unexpectedByte = (byte: number, offset: number) =>
  new DataError(`unexpected ${describeByte(byte)} at byte ${offset}`, {
    hint: 'a lead is a JSON object, such as {"id":"lead_1"}; several come in an array, or a line each',
  });

export const endlessObject = (offset: number) =>
  new DataError(`an object that ends nowhere before byte ${offset} is no lead`);
