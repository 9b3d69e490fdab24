/** `A. L.` of `Ada Lovelace`; empty for a name without a letter or digit. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}][^\s]*/gu) ?? [];
  return words
    .slice(0, 4)
    .map((word) => `${Array.from(word)[0]?.toUpperCase() ?? ''}.`)
    .join(' ');
}

/** `…234` of `+1 555 000 1234`; what has fewer than seven digits is hidden whole. */
export function lastDigits(phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return digits.length < 7 ? (phone === '' ? '' : '…') : `…${digits.slice(-3)}`;
}

const emails = /[^\s@"'<>(),;:=/]+@[^\s@"'<>(),;:/]+/gu;

/** Only what is written as a phone number: ids and times are digits too. */
const phones = /\+\d(?:[\s().\-/]{0,2}\d){6,}|\(\d{2,5}\)[\s-]?\d(?:[\s.-]?\d){4,}/g;

/** A text that somebody else wrote, in which e-mail addresses and phone numbers are reduced. */
export const withoutContacts = (text: string): string =>
  text.replace(emails, (email) => `${Array.from(email)[0] ?? ''}…@…`).replace(phones, lastDigits);

/** Whether a field belongs to a person, by its path. */
export const isContact = (path: string): boolean =>
  /(^|\.)(contact|e-?mail|phone|mobile|tel)|name$/i.test(path);

/** A value of the field at that path. What belongs to a person's contact is hidden as far as its kind allows. */
export function reducedValue(path: string, value: string): string {
  const [, name = ''] = /([^.]*)$/.exec(path) ?? [];
  if (/name/i.test(name)) return initials(value);
  if (/phone|mobile|^tel/i.test(name)) return lastDigits(value);
  if (/e-?mail/i.test(name)) return value.includes('@') ? withoutContacts(value) : initials(value);
  return isContact(path) ? '…' : withoutContacts(value);
}
