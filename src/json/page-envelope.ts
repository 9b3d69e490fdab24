import { isObject, type Json, valueAt } from './exact.ts';
import { type ArrayPlace, hasAmbiguousName, isSamePath, usualPlaces } from './find-array.ts';

/**
 * An answer without its records: `root` is the whole answer with the array of records empty, and `path` is the
 * place of that array, or the one that it would have. `isWithoutList`: the answer had no array, and nothing
 * else shows that it is a page of a list.
 */
export interface Envelope {
  readonly root: Json;
  readonly path: readonly string[];
  readonly isWithoutList?: boolean;
}

/** Returns another array of objects in a usual place: then `auto` cannot know which one holds the records. */
export const rivalArray = ({ root, path }: Envelope): readonly string[] | undefined =>
  usualPlaces.find((place) => {
    const value = valueAt(root, place);
    return !isSamePath(place, path) && Array.isArray(value) && isObject((value as readonly Json[])[0]);
  });

/** Returns the only array under an ambiguous name; without such an array, the only array of all. */
export function onlyArray(paths: readonly (readonly string[])[]): readonly string[] | undefined {
  const ambiguous = paths.filter(hasAmbiguousName);
  const candidates = ambiguous.length > 0 ? ambiguous : paths;
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** The link relations of a page in HAL; a single record has others, such as `owner`. */
const pageRelations = ['self', 'first', 'prev', 'previous', 'next', 'last', 'curies', 'profile', 'search'];

/** Members that describe a page; any other one may be a field of a single lead. */
const pageMember = /^(_links|page|meta|pagination|total\w*|count|size|limit|offset|per_?page)$/i;

const assumedPath: readonly string[] = ['data'];

/**
 * Reads an answer without any array as an empty page; undefined where it cannot be one. A service without
 * leads may answer null, `{}`, null in place of the array or of an object around it, or HAL without
 * `_embedded`. Only HAL with nothing but links and numbers of a page is certainly a list.
 */
export function emptyPage(root: Json, target: ArrayPlace): Envelope | undefined {
  if (root === null) return { root, path: assumedPath, isWithoutList: true };
  if (!isObject(root)) return undefined;
  const { errors, _links: links } = root;
  if (Array.isArray(errors) && errors.length > 0) return undefined;
  const places = target === 'auto' ? usualPlaces : target.map((_, depth) => target.slice(0, depth + 1));
  const nullPlace = places.find((place) => valueAt(root, place) === null);
  if (nullPlace !== undefined) return { root, path: nullPlace, isWithoutList: true };
  const members = Object.keys(root);
  if (members.length === 0) return { root, path: assumedPath, isWithoutList: true };
  if (!isObject(links)) return undefined;
  const relations = Object.keys(links);
  const hasPageLinks = relations.length > 0 && relations.every((name) => pageRelations.includes(name));
  const isList = hasPageLinks && members.every((name) => pageMember.test(name));
  return { root, path: ['_embedded'], isWithoutList: !isList };
}
