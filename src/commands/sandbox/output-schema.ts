import * as z from 'zod/mini';

const counts = z.record(z.string(), z.int());
const account = z.object({
  apiKey: z.optional(z.string()),
  leads: z.int(),
  /** What the leads are made from. */
  seed: z.string(),
  /** URLs that leads are delivered to. */
  webhooks: z.array(z.string()),
});

const summary = z.object({
  type: z.literal('summary'),
  leads: z.int(),
  requests: z.int(),
  attempts: z.int(),
  acknowledged: z.int(),
  pending: z.int(),
  /** How often each fault was injected, by name. */
  faults: z.object({ api: counts, deliveries: counts }),
});

const ready = z.extend(account, {
  type: z.literal('ready'),
  url: z.string(),
  port: z.int(),
  openapi: z.string(),
  /** Where there are several; the first one's members are beside it too. */
  accounts: z.optional(z.array(z.extend(account, { name: z.string() }))),
});

/** A line of `--json`: the first one, and the last one. */
export const sandboxSchema = z.discriminatedUnion('type', [ready, summary]);

export type ReadyLine = z.output<typeof ready>;
export type SandboxSummary = z.output<typeof summary>;
