import * as z from 'zod/mini';
import { allClasses } from '../../audit/classify-lead.ts';

const time = z.nullable(z.iso.datetime());
const text = z.nullable(z.string());

const summary = z.object({
  type: z.literal('summary'),
  window: z.object({ since: time, until: time }),
  /** When the oldest lead was created that the service listed. */
  horizon: time,
  pulled: z.int(),
  received: z.int(),
  matched: z.int(),
  /** Of these, the leads that were fetched and never pushed. */
  backfilled: z.int(),
  /** Leads on both sides of which only the list has some fields that no push carries, and these fields. */
  richer: z.int(),
  richerFields: z.readonly(z.array(z.string())),
  /** Null: cannot be told. */
  byClass: z.record(z.enum(allClasses), z.nullable(z.int())),
  /** Records of the list that nothing can be said about: no receiver takes a lead in that has no usable id. */
  withoutId: z.int(),
  /** Of the leads that are old enough, the share that was not received; null where there are none. */
  lossRate: z.nullable(z.number()),
  repaired: z.int(),
});

/** A line of `--json`: one for each lead that is not the same on both sides, then the summary. */
export const auditSchema = z.union([
  z.object({
    type: z.literal('finding'),
    class: z.enum(allClasses),
    id: z.string(),
    /** Of `different`: dotted names of the fields whose values are not the same, at most 20. */
    fields: z.nullable(z.readonly(z.array(z.string()))),
    /** As the service has it, or else as it was received. */
    createdAt: text,
    receivedAt: time,
    /** Of `refused`: why it was rejected; otherwise what else is known. */
    reason: text,
  }),
  summary,
]);

export type AuditLine = z.output<typeof auditSchema>;
export type AuditSummary = z.output<typeof summary>;
