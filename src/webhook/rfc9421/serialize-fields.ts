import { type Item, type Member, parseDictionary, parseList, type Parameters } from './structured-fields.ts';

/** `(items);params`, serialised as in RFC 8941, section 4.1.1.1. */
export const serializeInnerList = (items: readonly Item[], params: Parameters): string =>
  `(${items.map(serializeItem).join(' ')})${serializeParameters(params)}`;

export const serializeItem = ({ bare, params }: Item): string => bare.text + serializeParameters(params);

const serializeParameters = (params: Parameters): string =>
  [...params].map(([key, { value, text }]) => (value === true ? `;${key}` : `;${key}=${text}`)).join('');

const serializeMember = (member: Member): string =>
  'items' in member ? serializeInnerList(member.items, member.params) : serializeItem(member);

/**
 * A header's value as its strict serialisation (RFC 9421, section 2.1.1); undefined when it is no structured field. What
 * reads both as a dictionary and as a list is written in the same way by both.
 */
export function serializeStrictly(text: string): string | undefined {
  const dictionary = parseDictionary(text);
  if (dictionary === undefined) return parseList(text)?.map(serializeMember).join(', ');
  return [...dictionary].map(([key, member]) => serializeEntry(key, member)).join(', ');
}

function serializeEntry(key: string, member: Member): string {
  const isTrue = 'bare' in member && member.bare.value === true;
  return isTrue ? key + serializeParameters(member.params) : `${key}=${serializeMember(member)}`;
}
