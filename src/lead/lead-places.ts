import { openBrace, openBracket } from '../json/bytes.ts';
import { elementsAt, membersAt, type Span } from '../json/element/members.ts';
import { idKinds, row, scanner } from '../json/scanner.ts';
import { leadFields } from './read-lead.ts';

/** Objects further inside are not looked at. */
const deepest = 2;

/** Of one array, from its first element on: more leads are too many for one body. */
const mostElements = 1001;

/**
 * Where leads may be inside a body that is none itself: objects at depth one or two that have an id beside one of `leadFields`,
 * and arrays of such objects, each array as one place. What is inside a lead belongs to it. The scanner must hold this
 * text, which is valid.
 */
export function leadPlaces(json: Buffer, start: number, depth = 0): Span[] {
  if (depth === deepest) return [];
  const isArray = json[start] === openBracket;
  const children = isArray ? elementsAt(json, start, mostElements) : membersAt(json, start);
  if (isArray && children.some((child) => isLeadLike(json, child.start)))
    return [{ start, end: scanner.valueEnd(start) }];
  return children.flatMap((child) => {
    if (!isArray && isLeadLike(json, child.start)) return [{ start: child.start, end: child.end }];
    return isContainer(json, child) ? leadPlaces(json, child.start, depth + 1) : [];
  });
}

const isContainer = (json: Buffer, { start }: Span): boolean =>
  json[start] === openBrace || json[start] === openBracket;

/** Whether the object at `start` has an `id`, usable or not, beside one of `leadFields`. */
export function isLeadLike(json: Buffer, start: number): boolean {
  if (json[start] !== openBrace) return false;
  scanner.valueEnd(start);
  const rows = scanner.lastRow();
  if (rows[row.idKind] === idKinds.missing) return false;
  if (rows[row.createdStart] !== 0 || rows[row.categoryStart] !== 0) return true;
  return membersAt(json, start).some(({ name }) => leadFields.some((field) => field === name));
}
