import { formatPointer, isObject, type Json } from '../json/exact.ts';
import type { PatternSpans } from '../json/members.ts';
import { type IdField, idIn, idLikeName, type LeadReading, type NoticeKind } from './find-leads.ts';

/**
 * `saidBy` is the flag or setting that named the place of the lead; absent where the place was found. `option` is
 * the flag that can name another place; absent where none can.
 */
export interface LeadAtNames {
  readonly saidBy?: string | undefined;
  readonly option?: string | undefined;
}

type Path = readonly string[];

const maxNamed = 5;

const problems = {
  several: ['more than one object in the body could be the lead', 'says which'],
  past: ['the only lead in the body is a former one', 'takes it all the same'],
  mixed: ['only some of the objects are leads', 'takes all of them'],
} as const;

type Refused = Exclude<LeadReading, { readonly kind: 'one' }>;

/** Says why no lead is taken, and with the flag `option`, if there is one, how a person can have it taken. */
export function refusalOf(
  reading: Refused,
  body: Json,
  option: string | undefined,
  idField: IdField,
): string {
  const { kind, paths } = reading;
  if (kind === 'none') return noLeadIn(body, paths, option, idField);
  if (kind === 'deletion' || kind === 'other')
    return noticeRefusal(reading.member, kind, pointerText(paths[0] ?? []), option);
  const [problem, effectOfOption] = problems[kind];
  const choice = option === undefined ? '' : `; ${listed(paths, option)} ${effectOfOption}`;
  return `${problem}, at ${listed(paths)}${choice}`;
}

const notices: Readonly<Record<NoticeKind, string>> = {
  deletion: 'says that the lead was deleted',
  other: 'says that the body is about something else than a lead',
};

/**
 * A notice is a member or a header, named by `subject`, which says that the delivery tells of something else than a lead. `pointer` is
 * the place at which the body holds what looks like a lead.
 */
export const noticeRefusal = (
  subject: string,
  kind: NoticeKind,
  pointer: string,
  option: string | undefined,
): string =>
  `${subject} ${notices[kind]}${option === undefined ? '' : `; ${option} ${pointer} takes it all the same`}`;

const listed = (paths: readonly Path[], option = ''): string =>
  joined(paths.slice(0, maxNamed).map((path) => `${option} ${pointerText(path)}`.trim()));

const joined = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1) ?? ''}`;

function noLeadIn(
  body: Json,
  identified: readonly Path[],
  option: string | undefined,
  { name, option: idOption }: IdField,
): string {
  if (Array.isArray(body) && body.length === 0) return 'the body is an empty array';
  if (typeof body !== 'object' || body === null) return 'the body is not a JSON object';
  const hasId = isObject(body) && idIn(body, name) !== undefined;
  const isBodyTheLead = isObject(body) && ('category' in body || 'contact' in body);
  const examples = identified.length === 0 ? '' : `, such as ${listed(identified, option)}`;
  const hints: string[] = [];
  if (!hasId && idOption !== undefined) hints.push(`with ${idOption} which field of a lead is its id`);
  if (!isBodyTheLead && option !== undefined)
    hints.push(`with ${option} where in the body the lead is${examples}`);
  return `${missingPart(body, name, hasId)}${hints.length === 0 ? '' : `; say ${hints.join(', or ')}`}`;
}

function missingPart(body: Json, idName: string, hasId: boolean): string {
  if (hasId) return `no field of a lead is beside the '${idName}' of the body`;
  const idLikeNames = idLikeMembers(body).filter((member) => member !== idName);
  const instead =
    idLikeNames.length === 0 ? '' : `, only ${joined(idLikeNames.map((member) => `'${member}'`))}`;
  return Array.isArray(body)
    ? `no object in the array has an '${idName}' beside category or contact${instead}`
    : `there is no '${idName}'${instead}`;
}

function idLikeMembers(body: Json): string[] {
  const object = Array.isArray(body) ? (body as readonly Json[])[0] : body;
  const idNamesIn = (value: Json | undefined): string[] =>
    isObject(value) ? Object.keys(value).filter((name) => idLikeName.test(name)) : [];
  const nested = Object.entries(isObject(object) ? object : {}).flatMap(([name, inner]) =>
    idNamesIn(inner).map((innerName) => `${name}.${innerName}`),
  );
  return [...idNamesIn(object), ...nested].slice(0, maxNamed);
}

export const idHint = ({ option }: IdField): string =>
  option === undefined ? '' : `; say with ${option} which field of a lead is its id`;

/** Why no lead is taken at a pointer: its index would leave elements of the array out, or nothing is there. */
export function pointerRefusal(
  fault: Extract<PatternSpans, { readonly kind: 'index' | 'nothing' }>,
  path: Path,
  { saidBy, option }: LeadAtNames,
): string {
  const pointer = pointerText(path);
  const reached = pointerText(fault.path);
  if (fault.kind === 'index') {
    const allElements = [...fault.path, '*', ...path.slice(fault.path.length + 1)];
    const hint = option === undefined ? '' : `; ${option} ${pointerText(allElements)} takes all of them`;
    return `the array at ${reached} has ${fault.count} elements, of which ${pointer} takes one${hint}`;
  }
  if (saidBy === undefined)
    return `only a part of the body has a lead at ${pointer}: at ${reached} is nothing, or more than one thing`;
  const whole = reached === pointer ? '' : ` (${pointer})`;
  return `there is nothing at ${reached}${whole}, where ${saidBy} says that the lead is`;
}

export const pointerText = (path: Path): string => (path.length === 0 ? "''" : formatPointer(path));
