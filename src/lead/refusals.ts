import { formatPointer, isObject, type Json } from '../json/exact.ts';
import type { SpansAt } from '../json/members.ts';
import { idIn, idLikeName, type LeadReading } from './find-leads.ts';

/** The names by which a front speaks of the place of a lead, for messages. */
export interface LeadAtNames {
  /** The flag or setting that named the place; absent where the place was found. */
  readonly saidBy?: string | undefined;
  /** The flag that can name another place; absent where none can. */
  readonly option?: string | undefined;
}

interface IdNames {
  readonly name: string;
  readonly option?: string | undefined;
}

type Path = readonly string[];

/** A message names so many places or members at most. */
const maxNamed = 5;

/** The message for a body that is not read as a lead, with the places and the settings that a person can choose from. */
export function refusalOf(
  reading: Exclude<LeadReading, { readonly kind: 'one' }>,
  body: Json,
  option: string | undefined,
  idNames: IdNames,
): string {
  switch (reading.kind) {
    case 'several':
      return `more than one object in the body could be the lead, at ${alternatives(reading.paths)}${choice(reading.paths, option, 'says which')}`;
    case 'past':
      return `the only lead in the body is a former one, at ${alternatives(reading.paths)}${choice(reading.paths, option, 'takes it all the same')}`;
    case 'deletion':
      return `${reading.member} says that the lead was deleted${choice([reading.path], option, 'takes it all the same')}`;
    case 'mixed':
      return `some of the objects at ${pointerText(reading.path)} are no lead${choice([reading.path], option, 'takes all of them')}`;
    case 'none':
      return noLeadIn(body, reading.identified, option, idNames);
  }
}

const alternatives = (paths: readonly Path[], option = ''): string =>
  joined(paths.slice(0, maxNamed).map((path) => `${option} ${pointerText(path)}`.trim()));

const choice = (paths: readonly Path[], option: string | undefined, effect: string): string =>
  option === undefined ? '' : `; ${alternatives(paths, option)} ${effect}`;

const joined = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1) ?? ''}`;

function noLeadIn(
  body: Json,
  identified: readonly Path[],
  option: string | undefined,
  { name, option: idOption }: IdNames,
): string {
  if (Array.isArray(body) && body.length === 0) return 'the body is an empty array';
  if (typeof body !== 'object' || body === null) return 'the body is not a JSON object';
  const hasId = isObject(body) && idIn(body, name) !== undefined;
  const hasLeadField = isObject(body) && ('category' in body || 'contact' in body);
  const hints = [
    !hasId && idOption !== undefined && `with ${idOption} which field of a lead is its id`,
    !hasLeadField &&
      option !== undefined &&
      `with ${option} where in the body the lead is${identified.length === 0 ? '' : `, such as ${alternatives(identified, option)}`}`,
  ].filter((hint) => hint !== false);
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

/** The members of a body that look like an id, also one object further inside: `contact.id`. */
function idLikeMembers(body: Json): string[] {
  if (Array.isArray(body)) return idLikeNamesOf((body as readonly Json[])[0] ?? null, '');
  if (!isObject(body)) return [];
  const nested = Object.entries(body).flatMap(([key, inner]) => idLikeNamesOf(inner, `${key}.`));
  return [...idLikeNamesOf(body, ''), ...nested].slice(0, maxNamed);
}

function idLikeNamesOf(object: Json, prefix: string): string[] {
  if (!isObject(object)) return [];
  const names = Object.keys(object).filter((key) => idLikeName.test(key));
  return names.map((key) => prefix + key);
}

/** The end of a message for a lead without its id. */
export const idHint = ({ option }: IdNames): string =>
  option === undefined ? '' : `; say with ${option} which field of a lead is its id`;

/** The message for a path that does not lead to all leads of a body. */
export function pointerRefusal(
  fault: Extract<SpansAt, { readonly kind: 'index' | 'nothing' }>,
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
