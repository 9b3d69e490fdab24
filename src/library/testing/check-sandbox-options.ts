import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import { nextForms, paginations } from '../../sandbox/api/api-options.ts';
import { longestTimerMs } from '../../time/duration.ts';

const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z.int().check(z.gte(least), z.lte(most));
const milliseconds = z.number().check(z.gte(0), z.lte(longestTimerMs));
const text = z.string().check(z.minLength(1));
const path = z.string().check(z.regex(/^\/[^?#\s]*$/));
/** Checked where it is read, by code that says more of it. */
const other = z.unknown();

const webhookSchema = z.partial(
  z.strictObject({
    url: other,
    scheme: other,
    secrets: other,
    retryMs: z.array(milliseconds),
    timeoutMs: milliseconds,
    concurrency: wholeNumber(1),
    ca: text,
  }),
);

const optionsSchema = z.partial(
  z.strictObject({
    leads: z.union([wholeNumber(0), z.array(other)]),
    seed: z.union([z.string(), z.number()]),
    newest: z.date(),
    apiKey: text,
    params: z.record(z.string(), z.nullable(text)),
    faults: other,
    deliveryFaults: other,
    webhook: webhookSchema,
    port: wholeNumber(0, 65_535),
    clock: other,
    path,
    pagination: z.enum(paginations),
    next: z.enum(nextForms),
    nextField: text,
    envelope: text,
    totals: z.boolean(),
    order: z.enum(['newest', 'oldest']),
    statusField: text,
    defaultLimit: wholeNumber(1),
    maxLimit: wholeNumber(1),
    rateLimit: z.strictObject({ requests: wholeNumber(1), windowMs: milliseconds }),
    gzip: z.boolean(),
  }),
);

/** Throws a `UsageError` for an option that is unknown or of another form: a sandbox without it would test something else. */
export function checkSandboxOptions(options: unknown): void {
  const { error } = z.safeParse(optionsSchema, options);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return;
  const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const name = [...issue.path, ...(unknown === undefined ? [] : [unknown])].join('.');
  throw new UsageError(
    unknown === undefined ? `${name} is not what this option can be` : `there is no option ${name}`,
    { cause: error },
  );
}
