import { isObject, type Json } from '../json/exact.ts';

/** The names of members are compared without case and signs: `next_cursor`, `nextCursor` and `next-cursor` are one. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

export interface Member {
  readonly name: string;
  readonly plain: string;
  /** Its name behind those of the objects around it, such as `meta.next`. */
  readonly place: string;
  readonly parent: string;
  readonly depth: number;
  readonly value: Json;
}

/** The members of an object, and of those in it that `enter` gives for a member. */
export function membersOf(root: Json | undefined, enter: (member: Member) => Json | undefined): Member[] {
  const members: Member[] = [];
  const collect = (object: Json | undefined, around: Member | undefined): void => {
    if (!isObject(object)) return;
    for (const [name, value] of Object.entries(object)) {
      const place = around === undefined ? name : `${around.place}.${name}`;
      const depth = around === undefined ? 0 : around.depth + 1;
      const member = { name, plain: plainName(name), place, parent: around?.plain ?? '', depth, value };
      members.push(member);
      collect(enter(member), member);
    }
  };
  collect(root, undefined);
  return members;
}
