import * as z from 'zod/mini';

const time = z.iso.datetime();
const texts = z.readonly(z.array(z.string()));
const verdict = z.enum(['accepted', 'duplicate', 'pending', 'rejected', 'other']);

/** What `--format redacted` says of a delivery. */
const redacted = z.object({
  type: z.literal('delivery'),
  receivedAt: time,
  verdict,
  reason: z.nullable(z.string()),
  status: z.int(),
  durationMs: z.number(),
  leadId: z.nullable(z.string()),
  /** Which delivery of this id it is, from 1. */
  attempt: z.nullable(z.int()),
});

const delivery = z.extend(redacted, {
  detail: z.optional(z.string()),
  /** Which of the several leads of its delivery it is, from 1, and how many they are. */
  leadNumber: z.optional(z.int()),
  leadCount: z.optional(z.int()),
  remote: z.string(),
  firstAt: z.optional(time),
  /** `outbox`: it was in the inbox, and was handed on to a target once more. */
  source: z.enum(['push', 'backfill', 'outbox']),
  /** Fields whose values differ from the first payload of this id. */
  differs: z.optional(texts),
  /** Deviations from the specification. */
  warnings: z.optional(texts),
  /** To which targets the lead was handed. */
  handed: z.optional(
    z.readonly(
      z.array(
        z.object({
          target: z.string(),
          to: z.enum(['forward', 'exec', 'output', 'call']),
          ok: z.boolean(),
          answer: z.string(),
          durationMs: z.number(),
          status: z.optional(z.int()),
          isDown: z.optional(z.literal(true)),
          retryAfterMs: z.optional(z.number()),
          body: z.optional(z.string()),
        }),
      ),
    ),
  ),
  /** Other schemes or encodings that the credential would have matched. */
  explanation: z.optional(texts),
});

const summary = z.object({
  type: z.literal('summary'),
  accepted: z.int(),
  duplicate: z.int(),
  pending: z.int(),
  rejected: z.int(),
  other: z.int(),
  /** Of the rejected ones. */
  reasons: z.record(z.string(), z.int()),
  durationMs: z.number(),
});

const listening = z.object({
  type: z.literal('listening'),
  url: z.string(),
  /** Null: any. */
  path: z.nullable(z.string()),
  scheme: z.string(),
  /** The inbox's file, `:memory:`, or the URL of its database without password. */
  inbox: z.string(),
  /** The certificate authority of the receiver, as a file. */
  ca: z.nullable(z.string()),
  /** URL of `--admin`. */
  admin: z.optional(z.string()),
});

const backfill = z.object({
  type: z.literal('backfill'),
  round: z.int(),
  startedAt: time,
  durationMs: z.number(),
  fetched: z.int(),
  known: z.int(),
  handedOn: z.int(),
  pending: z.int(),
  notStored: z.int(),
  complete: z.boolean(),
  error: z.nullable(z.string()),
});

/** A line of `--format events`; a delivery of `--format redacted` has the members alone that name nobody. */
export const listenSchema = z.union([
  listening,
  /** The lead's own text is inserted as it is. */
  z.extend(delivery, { lead: z.unknown() }),
  redacted,
  backfill,
  summary,
]);

export type DeliveryLine = z.output<typeof delivery>;
export type RedactedLine = z.output<typeof redacted>;
export type Tally = Omit<z.output<typeof summary>, 'type' | 'durationMs'>;
export type ListenLine = z.output<typeof listening | typeof backfill | typeof summary>;
