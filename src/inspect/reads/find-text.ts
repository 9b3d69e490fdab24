import { normalizedEmail, normalizedPhone } from '../../inbox/erase/person.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import type { Candidate } from '../../inbox/search/search-step.ts';
import { mayBePhone } from '../../inbox/search/search-terms.ts';
import { utf8 } from '../../json/bytes.ts';
import { decodeEscapes } from '../../json/element/decode-escapes.ts';
import { isObject, type Json } from '../../json/exact.ts';
import { leadIn } from './row-of.ts';

/** Where a text was found: in the id, a field of the contact, or elsewhere in the body. */
export type FoundIn = 'id' | 'name' | 'email' | 'phone' | 'body';

/**
 * Looks for a text in a delivery, letters of any case, in the body as it came and with the escapes of JSON decoded. A text
 * that may be a phone number is found however its digits are grouped.
 */
export function textFinder(text: string): (delivery: Candidate) => FoundIn | undefined {
  const wanted = text.toLowerCase();
  const digits = mayBePhone(text) ? normalizedPhone(text) : undefined;
  const holds = (value: string): boolean => value.toLowerCase().includes(wanted);
  const hasPhone = (value: string): boolean =>
    digits !== undefined && phonesIn(value).some((phone) => phone.includes(digits));
  const fieldOf = (delivery: Candidate): FoundIn | undefined => {
    const contact = leadIn(delivery)?.['contact'];
    if (!isObject(contact)) return undefined;
    const field = (name: string): string => textOf(contact[name]);
    if (holds(field('name'))) return 'name';
    if (normalizedEmail(field('email')).includes(wanted)) return 'email';
    return holds(field('phone')) || hasPhone(field('phone')) ? 'phone' : undefined;
  };
  return (delivery) => {
    const { leadId, body, place } = delivery;
    if (leadId !== undefined && holds(leadId)) return 'id';
    // Other leads of the same request are deliveries of their own.
    const raw = utf8(leadBytes(body, place));
    const isHeld = holds(raw) || (raw.includes('\\') && holds(decodeEscapes(raw))) || hasPhone(raw);
    return isHeld ? (fieldOf(delivery) ?? 'body') : undefined;
  };
}

const phonesIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/\d[\d\s().\-/\u00a0\u2010-\u2013]{2,}\d/g), ([phone]) => normalizedPhone(phone));

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
