import { createHmac } from 'node:crypto';
import { utf8 } from '../../json/bytes.ts';

/**
 * What stays of the id of an erased lead: a keyed digest, so that nobody learns the id by trying likely ones without the
 * inbox. `key`: of the inbox. No name of a target begins as the text does, so that the key may serve for both.
 */
export const erasedIdDigest = (key: Uint8Array, leadId: string): Buffer =>
  // As JSON, in which half a surrogate pair has a form of its own.
  createHmac('sha256', key)
    .update(`erased ${JSON.stringify(leadId)}`)
    .digest();

/** Of one rejected body: each of them is looked up. */
const mostIds = 2000;

/** A member `id` whose value is a text or an integer (RFC 8259). */
const member =
  /"id"[ \t\r\n]*:[ \t\r\n]*(?:("(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?\d+))/g;

/**
 * The value of each member `id` in a body, at any depth, the first `most` of them: among them are the ids of its
 * leads, wherever they are in it, also when it was cut short or is no JSON.
 */
export function memberIds(body: Uint8Array, most = mostIds): readonly string[] {
  const ids = new Set<string>();
  for (const [, text, integer] of utf8(body).matchAll(member)) {
    ids.add(text === undefined ? (integer ?? '') : (JSON.parse(text) as string));
    if (ids.size === most) break;
  }
  return [...ids];
}

/** Whether one of the ids is that of a member of the body. */
export function hasMemberId(body: Uint8Array, ids: ReadonlySet<string>): boolean {
  return ids.size > 0 && memberIds(body, Infinity).some((id) => ids.has(id));
}
