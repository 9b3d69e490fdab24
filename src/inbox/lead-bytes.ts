import type { Span } from '../json/members.ts';

/** The lead's own bytes in a body; without a place the body is the lead. */
export const leadBytes = (body: Uint8Array, place: Span | undefined): Uint8Array =>
  place === undefined ? body : body.subarray(place.start, place.end);
