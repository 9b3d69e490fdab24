/** What a store can look for by the means of its database. */
interface SearchTerms {
  /** Printable ASCII in lower case, which every match holds in some case, unless parts are escaped; undefined: nothing such. */
  readonly plain: string | undefined;
  /** How JSON may write a character of it otherwise: a body with that is a candidate as well. */
  readonly escape: string;
}

/** Shorter ones are in nearly every body. */
const shortest = 2;

/** Digits, and what people write between them; not an address of a network. */
const phoneNumber = /^(?!\d+(?:\.\d+){3}$)[+\d\s().\-/]+$/;
const fewestDigits = 5;

/** Whether a text may be a phone number, whose digits are found however they are grouped. */
const mayBePhone = (text: string): boolean =>
  phoneNumber.test(text) && text.replace(/\D/g, '').length >= fewestDigits;

export function searchTerms(text: string): SearchTerms {
  // A header is stored without the colon behind its name.
  const lower = text.toLowerCase().replace(/:(?= |$)/g, '"');
  // Any grouping of the digits matches, so there is no text that is always there.
  const runs = mayBePhone(text) ? [] : (lower.match(/[ !#-.0-[\]-~]+/g) ?? []);
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  // Letters and digits need no escape, and a serializer that uses one for them all the same writes their number.
  return { plain: longest.length < shortest ? undefined : longest, escape: '\\u00' };
}
