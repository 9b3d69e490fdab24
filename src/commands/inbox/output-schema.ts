import * as z from 'zod/mini';

const time = z.iso.datetime();
const text = z.nullable(z.string());

const delivery = {
  /** In the list. */
  number: z.int(),
  receivedAt: time,
  verdict: z.enum(['accepted', 'duplicate', 'pending', 'rejected', 'other']),
  reason: text,
  detail: text,
  status: z.int(),
  leadId: text,
  attempt: z.int(),
  source: z.enum(['push', 'backfill']),
  remote: z.string(),
  method: z.string(),
  path: z.string(),
  /** Of the body. */
  bytes: z.int(),
  /** Fields whose values differ from the first payload of this id; `*` where they were not compared. */
  differs: z.nullable(z.readonly(z.array(z.string()))),
};

/** One delivery of `inbox list`. */
export const inboxListSchema = z.object(delivery);

/** One delivery of `inbox show`. */
export const inboxShowSchema = z.object({
  ...delivery,
  /** Targets that have not had the lead. */
  outstanding: z.array(
    z.object({ target: z.string(), tries: z.int(), dueAt: z.nullable(time), dead: z.boolean() }),
  ),
  /** Each time the lead was handed to a target, oldest first. */
  results: z.array(
    z.object({
      target: z.string(),
      kind: z.nullable(z.enum(['forward', 'retry', 'replay', 'repair'])),
      ok: z.boolean(),
      answer: z.string(),
      durationMs: z.number(),
      at: time,
    }),
  ),
  /** As sent, with credentials redacted. */
  headers: z.readonly(z.array(z.readonly(z.tuple([z.string(), z.string()])))),
  /** Where the lead is only a part of the body. */
  lead: z.optional(z.string()),
  body: z.optional(z.string()),
  /** In place of `body`, where that is no text. */
  bodyBase64: z.optional(z.string()),
});

/** One lead of `inbox retry`. */
export const inboxRetrySchema = z.object({
  leadId: z.string(),
  ok: z.boolean(),
  answer: z.string(),
  durationMs: z.number(),
  at: time,
  /** The address that it was outstanding for until now. */
  insteadOf: text,
});

/** What `inbox erase` erased, or would erase. */
export const inboxEraseSchema = z.object({
  dryRun: z.boolean(),
  leads: z.array(
    z.object({ id: z.string(), deliveries: z.int(), firstReceivedAt: time, pending: z.boolean() }),
  ),
  rejected: z.array(z.object({ number: z.int(), receivedAt: time, reason: text })),
  /** Leads that hold it outside of the contact, and stay. */
  mentionedIn: z.readonly(z.array(z.string())),
  erasedBefore: z.boolean(),
  /** Null for a dry run. */
  erased: z.nullable(z.object({ leads: z.int(), deliveries: z.int(), rejected: z.int(), pending: z.int() })),
  /** Why a copy is still in the files of the inbox; null where none is. */
  remains: text,
  /** Where a copy may be that no command reaches. */
  outOfReach: z.array(z.string()),
});

export type DeliverySummary = z.output<typeof inboxListSchema>;
export type DeliveryDetails = z.output<typeof inboxShowSchema>;
export type RetriedLead = z.output<typeof inboxRetrySchema>;
export type ErasedDocument = z.output<typeof inboxEraseSchema>;
