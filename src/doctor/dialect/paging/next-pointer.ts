import { formatPointer, isObject, type Json } from '../../../json/exact.ts';
import type { NextHint } from '../../../service/pagination/next-hint.ts';
import { nextHintOf } from '../../../service/pagination/next-hint.ts';

/** Levels of objects that are looked into. */
const deepest = 4;

/** The JSON Pointer to what names the next page; undefined where it is not found in exactly one place. */
export function pointerOf(root: Json, hint: NextHint): string | undefined {
  const places: string[][] = [];
  const look = (value: Json, path: readonly string[]): void => {
    if (!isObject(value) || path.length >= deepest) return;
    for (const [name, member] of Object.entries(value)) {
      const found = nextHintOf(name, member);
      if (found?.value === hint.value && found.name === hint.name && !isObject(member))
        places.push([...path, name]);
      look(member, [...path, name]);
    }
  };
  look(root, []);
  const [only] = places;
  return places.length === 1 && only !== undefined ? formatPointer(only) : undefined;
}
