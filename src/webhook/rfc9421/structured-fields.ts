import { decode } from '../crypto/signature.ts';

/** A bare item; `text` is its value as RFC 8941 serialises it. */
type BareItem =
  | { readonly kind: 'string' | 'token'; readonly value: string; readonly text: string }
  | { readonly kind: 'integer' | 'decimal'; readonly value: number; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly text: string }
  | { readonly kind: 'bytes'; readonly value: Buffer; readonly text: string };

export type Parameters = ReadonlyMap<string, BareItem>;

export interface Item {
  readonly bare: BareItem;
  readonly params: Parameters;
}

export type Member = Item | { readonly items: readonly Item[]; readonly params: Parameters };

const patterns = {
  key: /[a-z*][a-z0-9_.*-]*/y,
  string: /"(?:[ !#-[\]-~]|\\["\\])*"/y,
  integer: /(?:0|-?[1-9]\d{0,14})(?![\d.])/y,
  decimal: /-?(?:0|[1-9]\d{0,11})\.\d{1,3}(?![\d.])/y,
  token: /[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*/y,
  boolean: /\?[01]/y,
  bytes: /:[^:"]*:/y,
  spaces: / */y,
  comma: /[ \t]*,[ \t]*/y,
} as const;

/** Ends the parsing from any depth; is caught in this file. */
class NotStructured extends Error {}

/**
 * Parses a dictionary of structured fields (RFC 8941, section 3.2); undefined for anything else. Stricter than the RFC in
 * one way: a repeated key is an error instead of overriding the first. Bytes that are no base64 are read as none at all,
 * so that one signature which cannot be read does not spoil the others.
 */
export const parseDictionary = (text: string): ReadonlyMap<string, Member> | undefined =>
  parse(text, (reader) => reader.dictionary());

/** Parses a list, or an item, which is a list of one (sections 3.1 and 3.3). */
export const parseList = (text: string): readonly Member[] | undefined =>
  parse(text, (reader) => reader.list());

function parse<T>(text: string, read: (reader: Reader) => T): T | undefined {
  try {
    return read(new Reader(text.replace(/^ +| +$/g, '')));
  } catch (error) {
    if (error instanceof NotStructured) return undefined;
    throw error;
  }
}

class Reader {
  readonly #text: string;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  dictionary(): ReadonlyMap<string, Member> {
    const members = new Map<string, Member>();
    while (members.size === 0 || this.#take('comma') !== undefined) {
      const key = this.#need('key');
      if (members.has(key)) throw new NotStructured();
      members.set(key, this.#member());
    }
    if (this.#offset < this.#text.length) throw new NotStructured();
    return members;
  }

  list(): readonly Member[] {
    const members: Member[] = [];
    while (members.length === 0 || this.#take('comma') !== undefined) members.push(this.#itemOrList());
    if (this.#offset < this.#text.length) throw new NotStructured();
    return members;
  }

  #member(): Member {
    if (!this.#skip('=')) return { bare: trueItem, params: this.#parameters() };
    return this.#itemOrList();
  }

  #itemOrList(): Member {
    if (!this.#skip('(')) return this.#item();
    const items: Item[] = [];
    for (;;) {
      const gap = this.#need('spaces');
      if (this.#skip(')')) return { items, params: this.#parameters() };
      if (items.length > 0 && gap === '') throw new NotStructured();
      items.push(this.#item());
    }
  }

  #item(): Item {
    return { bare: this.#bareItem(), params: this.#parameters() };
  }

  #parameters(): Parameters {
    const params = new Map<string, BareItem>();
    while (this.#skip(';')) {
      this.#need('spaces');
      const key = this.#need('key');
      if (params.has(key)) throw new NotStructured();
      params.set(key, this.#skip('=') ? this.#bareItem() : trueItem);
    }
    return params;
  }

  #bareItem(): BareItem {
    const string = this.#take('string');
    if (string !== undefined) {
      return { kind: 'string', value: string.slice(1, -1).replace(/\\(.)/g, '$1'), text: string };
    }
    const integer = this.#take('integer');
    if (integer !== undefined) return { kind: 'integer', value: Number(integer), text: integer };
    const decimal = this.#take('decimal');
    if (decimal !== undefined) return { kind: 'decimal', value: Number(decimal), text: decimalText(decimal) };
    const boolean = this.#take('boolean');
    if (boolean !== undefined) return { kind: 'boolean', value: boolean === '?1', text: boolean };
    const bytes = this.#take('bytes');
    if (bytes !== undefined) {
      const value = decode(bytes.slice(1, -1), 'base64') ?? Buffer.alloc(0);
      return { kind: 'bytes', value, text: `:${value.toString('base64')}:` };
    }
    const token = this.#need('token');
    return { kind: 'token', value: token, text: token };
  }

  #skip(character: string): boolean {
    if (this.#text[this.#offset] !== character) return false;
    this.#offset += 1;
    return true;
  }

  #take(name: keyof typeof patterns): string | undefined {
    const pattern = patterns[name];
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#offset += found.length;
    return found;
  }

  #need(name: keyof typeof patterns): string {
    const found = this.#take(name);
    if (found === undefined) throw new NotStructured();
    return found;
  }
}

/** Without zeros at its end, but for one behind the point (section 4.1.5). */
const decimalText = (text: string): string => text.replace(/(\.\d+?)0+$/, '$1').replace(/^-0\.0$/, '0.0');

const trueItem: BareItem = { kind: 'boolean', value: true, text: '?1' };

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
