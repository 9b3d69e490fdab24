import { isObject, type Json } from '../../json/exact.ts';
import { plainName } from './hint-names.ts';

/** A next URL, cursor or number, and the field it stood in. */
export interface NextHint {
  /** The field's name without case, `_` and `-`. */
  readonly name: string;
  /** The field's name as it stands there. */
  readonly field: string;
  readonly value: string | number;
}

/** Values that mark the end of a list in services that always send the field. */
const endMarkers: readonly Json[] = [null, false, '', 0, '0', -1, '-1', 'nil', 'null', 'false'];

const urlMembers = ['href', 'url', 'link'];
const cursorMembers = ['cursor', 'after', 'token'];
/** Members of an object `next` that are numbers, and the field that means the same beside it. */
const numberMembers = {
  page: 'nextpage',
  number: 'nextpage',
  offset: 'nextoffset',
  skip: 'nextoffset',
  start: 'nextoffset',
};

/** Null: the field says that there is no next page. Undefined: it does not say anything that is understood. */
export function nextHintOf(field: string, value: Json): NextHint | null | undefined {
  if (endMarkers.includes(value)) return null;
  if (typeof value === 'string' || typeof value === 'number') return { name: plainName(field), field, value };
  if (!isObject(value)) return undefined;
  for (const member of [...urlMembers, ...cursorMembers]) {
    const inner = value[member];
    if (inner === null) return null;
    if (typeof inner === 'string' && inner !== '') {
      const isCursor = cursorMembers.includes(member);
      return {
        name: isCursor ? 'nextcursor' : plainName(field),
        field: isCursor ? member : field,
        value: inner,
      };
    }
  }
  for (const [member, name] of Object.entries(numberMembers)) {
    const inner = value[member];
    if (inner === null) return null;
    const isNumber = typeof inner === 'number' || (typeof inner === 'string' && /^\d{1,15}$/.test(inner));
    if (isNumber) return { name, field: member, value: inner };
  }
  return undefined;
}
