import { isUsualPlace } from './find-array.ts';
import { isObject, type Json } from './exact.ts';

/** The rest of a page beside its records. */
export interface Envelope {
  /** The whole answer, with the array of records empty. */
  readonly root: Json;
  /** Where the array of records was. */
  readonly path: readonly string[];
}

/** The path of another array of objects in a usual place: then `auto` cannot know which one holds the records. */
export function otherArray({ root, path }: Envelope): readonly string[] | undefined {
  if (!isObject(root)) return undefined;
  for (const [name, value] of Object.entries(root)) {
    if (isOtherArray([name], value, path)) return [name];
    if (!isObject(value)) continue;
    for (const [inner, nested] of Object.entries(value)) {
      if (isOtherArray([name, inner], nested, path)) return [name, inner];
    }
  }
  return undefined;
}

function isOtherArray(place: readonly string[], value: Json, taken: readonly string[]): boolean {
  return (
    isUsualPlace(place) &&
    place.join('/') !== taken.join('/') &&
    Array.isArray(value) &&
    isObject((value as readonly Json[])[0])
  );
}
