import { parseIsoTime } from '../time/instant.ts';

/**
 * The one reading of a lead's `createdAt`, for filters, windows and conformance alike: milliseconds since the epoch, or
 * undefined for what is no ISO 8601 time: other text, a number, nothing. Without a zone it is UTC, as the service's are
 * (specification, section 2).
 */
export const readCreatedAt = (createdAt: unknown): number | undefined =>
  typeof createdAt === 'string' ? parseIsoTime(createdAt) : undefined;
