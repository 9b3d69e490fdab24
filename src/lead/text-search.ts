import type { Json } from '../json/exact.ts';

/** A text without case and without the marks of its letters: `Ángel` and `ANGEL` are the same. */
export const foldText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Digits as people group them; shorter ones are in nearly every lead. */
const phoneNumber = /^[+\d\s().\-/]{5,}$/;

/**
 * Whether a record holds a text in any value, without regard to case and accents, and of a phone number to how its digits
 * are grouped.
 */
export function textFinder(typed: string): (value: Json) => boolean {
  const wanted = foldText(typed);
  const digits = phoneNumber.test(typed) ? typed.replace(/\D/g, '') : '';
  const finds = (value: Json): boolean => {
    if (value === null) return false;
    if (typeof value === 'object') return Object.values(value).some(finds);
    const text = String(value);
    return foldText(text).includes(wanted) || (digits.length > 4 && text.replace(/\D/g, '').includes(digits));
  };
  return finds;
}
