import { describeByte } from '../json/bytes.ts';
import type { JsonProblem } from '../json/problems.ts';
import type { Messages, Words } from './message.ts';

/** The name of a record; `nth` counts from 1. */
const recordName = (nth: number): string => `lead ${nth} of the page`;
const inRecord = (nth: number | undefined, id: string | undefined): string =>
  nth === undefined ? '' : `, in ${recordName(nth)}${id === undefined ? '' : `, ${id}`}`;

const leaveOut = (words: Words): string =>
  `to leave out such a record: ${words.quoted(words.command('export --skip-invalid'))}`;

const wholeElements = (words: Words): string => `to take the elements whole: ${words.set('api.item', "''")}`;

export const jsonMessages: Messages<JsonProblem> = {
  'invalid-json': ({ byte, offset, nth, id }) => ({
    message: `the answer is not valid JSON: unexpected ${describeByte(byte)} at byte ${offset}${inRecord(nth, id)}`,
    hint: offset === 0 ? otherPlace : nth === undefined ? undefined : leaveOut,
  }),
  'invalid-utf8': ({ nth, id }) => ({
    message: `the answer is not valid JSON: bytes that are not UTF-8${inRecord(nth, id)}`,
    hint: nth === undefined ? undefined : leaveOut,
  }),
  'two-arrays': ({ place, other }) => ({
    message: `the answer holds two arrays of objects: ${place} and ${other}`,
    hint: (words) => `say which one holds the leads: ${words.set('api.items', place)}`,
  }),
  'array-twice': ({ place }) => `the answer holds ${place} twice, each time with leads`,
  'no-array': ({ place, others }) => ({
    message:
      place === undefined
        ? 'the answer holds no array of leads in a usual place'
        : `the answer holds no array at ${place}`,
    hint: (words) =>
      others[0] === undefined
        ? `${words.name('api.path')} may name another operation; see: ${words.get('api.path')}`
        : `if the leads are at ${others.join(' or ')}: ${words.set('api.items', others[0])}`,
  }),
  'too-large-to-read': ({ maxBytes, nth }) => {
    const limit = `${maxBytes / 1024 / 1024} MiB`;
    return {
      message:
        nth === undefined
          ? `the answer holds more than ${limit} beside the leads`
          : `${recordName(nth)} is larger than ${limit}`,
    };
  },
  'record-is-no-object': ({ nth }) => ({
    message: `${recordName(nth)} is not a JSON object`,
    hint: (words) => `${words.name('api.items')} may name another array: ${words.get('api.items')}`,
  }),
  'no-lead-in-element': ({ place, nth, isLearnt }) => ({
    message: `element ${nth} of the page holds no lead: there is no object at ${place}`,
    hint: (words) =>
      `${isLearnt ? 'the elements before it hold one there' : `see: ${words.get('api.item')}`}; ${wholeElements(words)}`,
  }),
  'member-beside-lead': ({ place, name, nth }) => ({
    message: `element ${nth} of the page is not like those before it: '${name}' stands beside ${place}`,
    hint: (words) =>
      `to leave out what stands beside: ${words.set('api.item', place)}; ${wholeElements(words)}`,
  }),
  'no-members-there': ({ path, change }) =>
    `'${path.join('.')}' has no members: '${change.join('.')}' cannot be changed`,
  'no-such-element': ({ path, step }) => `'${path.join('.')}' has no element ${step}`,
  'json-ends-early': ({ offset }) => `the JSON ends too early, at byte ${offset}`,
  'unexpected-byte': ({ byte, offset }) => ({
    message: `unexpected ${describeByte(byte)} at byte ${offset}`,
    hint: () => 'a lead is a JSON object; several come in an array, or a line each',
  }),
  'endless-object': ({ offset }) => `an object that ends nowhere before byte ${offset} is no lead`,
};

/** The answer may be that of another place. */
export const otherPlace = (words: Words): string =>
  `the base URL or the path may be another one: ${words.quoted(words.get('base-url'))}, ${words.quoted(words.get('api.path'))}`;
