import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json, parseExact } from '../../json/exact.ts';

/** Whose data is looked for: a lead by its id, or every lead with an e-mail address or a phone number. */
export interface Person {
  readonly by: 'id' | 'email' | 'phone';
  readonly value: string;
}

/** Upper and lower case are one, as are both forms of a letter with an accent; blanks around it are none of it. */
export const normalizedEmail = (text: string): string => text.trim().normalize('NFC').toLowerCase();

/** The digits, without the 00 that stands for a +. */
export const normalizedPhone = (text: string): string => text.replace(/\D/g, '').replace(/^00/, '');

/** Whether some value within the `contact` of a lead is the address or the number. `lead`: its own bytes. */
export function isContactOf(lead: Uint8Array, person: Person): boolean {
  const record = parsed(lead);
  return isObject(record) && hasContact(record, person);
}

/**
 * The ids of those objects in a body of several leads that have the address or the number within their `contact`: the
 * records of some of them may have been dropped.
 */
export function idsOfContact(body: Uint8Array, person: Person): readonly string[] {
  return [...valuesWithin(parsed(body))].flatMap((value) => {
    if (!isObject(value) || !hasContact(value, person)) return [];
    const { id } = value;
    return typeof id === 'string' || typeof id === 'number' ? [String(id)] : [];
  });
}

function hasContact({ contact }: { readonly [key: string]: Json }, { by, value }: Person): boolean {
  const normalized = by === 'email' ? normalizedEmail : normalizedPhone;
  const wanted = normalized(value);
  return [...valuesWithin(contact)].some(
    (one) => (typeof one === 'string' || typeof one === 'number') && normalized(String(one)) === wanted,
  );
}

/** The value and all that is in it; it may be nested more deeply than functions can be. */
function* valuesWithin(value: Json | undefined): Generator<Json> {
  const left: (readonly Json[])[] = value === undefined ? [] : [[value]];
  for (let some = left.pop(); some !== undefined; some = left.pop()) {
    for (const one of some) {
      yield one;
      if (Array.isArray(one)) left.push(one as readonly Json[]);
      else if (isObject(one)) left.push(Object.values(one));
    }
  }
}

function parsed(json: Uint8Array): Json | undefined {
  try {
    return parseExact(utf8(json).replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}
