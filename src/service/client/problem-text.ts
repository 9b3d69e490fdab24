import { isObject, jsonIn, type Json, plainName } from '../../json/exact.ts';

const longestText = 500;
const deepest = 8;

/**
 * The text of a service about its own failure, as one line: `status is not known (invalid_request)`. A body that is no JSON
 * is given as a string. Undefined where the body says nothing. `redact` runs before the text is cut, so that no part of a
 * secret is left.
 */
export function problemText(body: Json, redact: (text: string) => string): string | undefined {
  const text = readValue(body, 0);
  return text === undefined ? undefined : redact(text).slice(0, longestText);
}

export const parseProblem = (text: string): Json => {
  const json = jsonIn(text);
  return json === undefined ? text : json;
};

const names = (text: string): readonly string[] => text.split(' ');

/** Members that hold a sentence for people; the first ones say most. */
const messageNames = names(
  'message msg errormessage errormsg errmsg errordescription errorsummary errorusermsg faultstring detail errordetail ' +
    'description messagedetail exceptionmessage resultmessage resultmsg returnmessage returnmsg statusmessage statusmsg ' +
    'retmsg hydradescription info errorinfo errortext issue developermessage usermessage explanation value text',
);
const titleNames = names('reason title error hydratitle errortitle errorreason exception summary');
const codeNames = names(
  'errorcode code errcode errno errortype type faultcode status category name errorname exceptiontype errorkey errorstatus',
);
const listNames = names(
  'error errors fault odataerror exception problem apierror errormessages messages details detail modelstate ' +
    'validationerrors validationmessages fielderrors fieldviolations violations invalidparams errorcauses causes issues ' +
    'problems nonfielderrors children',
);
const fieldNames = names(
  'field fieldname param parameter path property propertypath attribute loc pointer source location key',
);
const knownNames = new Set([...messageNames, ...titleNames, ...listNames, 'base', '']);

function readValue(value: Json | undefined, depth: number): string | undefined {
  if (depth > deepest) return undefined;
  if (typeof value === 'string') return readText(value, depth);
  if (Array.isArray(value))
    return joined((value as readonly Json[]).slice(0, 5).map((element) => readValue(element, depth + 1)));
  return isObject(value) ? readObject(value, depth) : undefined;
}

function readText(value: string, depth: number): string | undefined {
  const text = oneLine(value);
  const isUseless = text === '' || /[\0-\x08]/.test(text) || /^[a-z][\w+.-]*:\/\/\S+$/i.test(text);
  if (isUseless) return undefined;
  const json = /^[{["]/.test(text) ? jsonIn(value) : undefined;
  if (json !== undefined && json !== value) return readValue(json, depth + 1);
  return text.startsWith('<') ? readMarkup(text) : text;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

type JsonObject = Readonly<Record<string, Json>>;

function readObject(object: JsonObject, depth: number): string | undefined {
  const isFields = depth === 0 ? isTextArray : Array.isArray;
  const entries = Object.entries(object);
  if (entries.length > 0 && entries.every(([, value]) => isFields(value))) return readFields(object, depth);
  // JSON-LD names types with `@`.
  const plainEntries = entries.filter(([name]) => !name.startsWith('@'));
  const members = new Map(plainEntries.map(([name, value]) => [plainName(name), value]));
  const sentences = (list: readonly string[]): string[] =>
    distinct(
      list.map((name) =>
        typeof members.get(name) === 'string' || messageNames.includes(name)
          ? readValue(members.get(name), depth + 1)
          : undefined,
      ),
    );
  const messages = sentences(messageNames).slice(0, 2);
  const titles = sentences(titleNames);
  const lists = listNames
    .filter((name) => typeof members.get(name) === 'object')
    .map((name) => readList(members.get(name), depth + 1));
  const parts = distinct([...(messages.length > 0 ? messages : titles.slice(0, 1)), ...lists]);
  const codes = [...titles, ...codeNames.map((name) => codeIn(members.get(name)))];
  codes.push(codeIn(innerValue(members.get('extensions'), 'code')));
  const text = withCode(parts.map(withoutStop).join(': '), codes);
  if (text !== undefined) return withField(text, depth === 0 ? undefined : fieldOf(members));
  return entries
    .map(([, value]) => (typeof value === 'object' ? readValue(value, depth + 1) : undefined))
    .find(Boolean);
}

/** The members of `errors` may be fields of the request, each with what is wrong with it (Laravel, Rails, ASP.NET). */
function readList(value: Json | undefined, depth: number): string | undefined {
  if (!isObject(value) || depth > deepest) return readValue(value, depth);
  const hasTextsOnly = Object.entries(value).every(
    ([name, text]) =>
      typeof text === 'string' &&
      !knownNames.has(plainName(name)) &&
      (text.includes(' ') || !codeNames.includes(plainName(name))),
  );
  return hasTextsOnly ? readFields(value, depth) : readObject(value, depth);
}

const readFields = (fields: JsonObject, depth: number): string | undefined =>
  joined(
    Object.entries(fields).map(([name, value]) => {
      const text = readValue(value, depth + 1);
      return text && withField(text, knownNames.has(plainName(name)) ? undefined : name);
    }),
  );

const isTextArray = (value: Json): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((element) => typeof element === 'string');

function fieldOf(members: ReadonlyMap<string, Json>): string | undefined {
  const values = fieldNames.map((name) => {
    const value = members.get(name);
    // FastAPI gives a path of steps, JSON:API an object.
    if (Array.isArray(value)) return value.filter((step) => typeof step !== 'object').join('.');
    return innerValue(value, 'pointer') ?? innerValue(value, 'parameter') ?? value;
  });
  return values.find((value) => typeof value === 'string' && value !== '') as string | undefined;
}

const innerValue = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) ? value[name] : undefined;

function withField(text: string, field: string | undefined): string {
  const isNamed = field !== undefined && words(text).includes(` ${words(field).trim()} `);
  return field === undefined || isNamed ? text : `${field}: ${text}`;
}

const words = (text: string): string => ` ${text.toLowerCase().replace(/[^\p{L}\d]+/gu, ' ')} `;

/** The name of a failure for programs; the status of the answer and words such as `error` say nothing more. */
function codeIn(value: Json | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const code = String(value).trim();
  const isUseless =
    /^(|0|[1-5]\d\d|true|false|null|none|err(or)?s?|fail(ed|ure)?|n?ok|exception|.*:.*)$/i.test(code) ||
    code.length > 80;
  return isUseless ? undefined : code.replace(/^.*#/, '');
}

function withCode(text: string, codes: readonly (string | undefined)[]): string | undefined {
  const code = codes.find((name) => name !== undefined && !includes(text, name.replace(/\.$/, '')));
  // A number alone says nothing to a person.
  if (text === '') return Number.isNaN(Number(code)) ? code : undefined;
  return code === undefined ? text : `${text} (${code})`;
}

const includes = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase());

const withoutStop = (text: string, index: number, all: readonly string[]): string =>
  index < all.length - 1 ? text.replace(/[.:;\s]+$/, '') : text;

function distinct(texts: readonly (string | undefined)[]): string[] {
  const parts: string[] = [];
  for (const text of texts)
    if (text !== undefined && !parts.some((part) => includes(part, text))) parts.push(text);
  return parts.filter((part) => !parts.some((longer) => longer !== part && includes(longer, part)));
}

function joined(texts: readonly (string | undefined)[]): string | undefined {
  const all = distinct(texts);
  return all.length === 0 ? undefined : all.join('; ');
}

/** The title of a page for people, or the first text that says more than `Error`; the message of XML. */
function readMarkup(markup: string): string | undefined {
  const isPage = /<!doctype html|<(html|head|title|body|h1|center)\b/i.test(markup);
  const texts = (isPage ? ['title', 'h1', 'pre', 'h2', 'p'] : xmlNames).map((name) =>
    elementText(markup, name),
  );
  const text = texts.find(
    (line) => line !== undefined && !/^(error|errors|document|untitled|\d*)$/i.test(line),
  );
  return text === undefined || isPage ? text : withCode(text, [codeIn(elementText(markup, 'code'))]);
}

const xmlNames = names('message faultstring errormessage msg detail description reason title error code');

function elementText(markup: string, name: string): string | undefined {
  const [opening] = new RegExp(String.raw`<(?:[\w-]+:)?${name}\b[^<>]*>`, 'i').exec(markup) ?? [];
  const content = opening === undefined ? undefined : markup.slice(markup.indexOf(opening) + opening.length);
  const text = content
    ?.slice(0, Math.max(0, content.search(new RegExp(String.raw`</(?:[\w-]+:)?${name}\b`, 'i'))))
    .replace(/<!\[CDATA\[|\]\]>|<[^>]*>/g, ' ')
    .replace(
      /&(amp|lt|gt|quot|nbsp|apos|#\d{1,6});/g,
      (_, entity: string) => entities[entity] ?? character(entity),
    );
  if (text === undefined) return undefined;
  // Its first number repeats the status, as in `502 Bad Gateway`.
  const line = oneLine(text).replace(/^(http status |error )?[45]\d\d\b[\s:–—-]*/i, '');
  return line === '' ? undefined : line;
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  apos: "'",
};
const character = (entity: string): string => String.fromCharCode(Number(entity.slice(1)));
