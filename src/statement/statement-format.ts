import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { jsonIn } from '../json/exact.ts';
import { sha256 } from '../json/bytes.ts';
import { base64Bytes } from './signed-note.ts';

/** What a line may say of its lead beside its digest and time. */
export const lineFields = ['category', 'source'] as const;
export type LineField = (typeof lineFields)[number];

const count = z.int().check(z.nonnegative());
const digest64 = z.string().check(z.regex(/^[A-Za-z0-9+/]{43}=$/));
const head = z.strictObject({ size: count, root: digest64 });

const ledgerSchema = z.strictObject({
  origin: z.string(),
  since: head,
  until: head,
  consistency: z.array(digest64),
});

/** Where the ledger was at the beginning of a statement, and at its end. */
export type StatementLedger = z.output<typeof ledgerSchema>;

export const headerSchema = z.strictObject({
  type: z.literal('leads/statement'),
  version: z.literal(1),
  signer: z.string(),
  basis: z.enum(['received', 'created']),
  since: z.iso.datetime(),
  until: z.iso.datetime(),
  zone: z.string(),
  by: z.array(z.enum(lineFields)),
  salt: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
  counts: z.strictObject({
    accepted: count,
    duplicate: count,
    rejected: z.record(z.string(), count),
    late: count,
    repaired: count,
    erased: count,
  }),
  lines: count,
  root: digest64,
  /** Of leads that were received. */
  ledger: z.optional(ledgerSchema),
  /** Of leads that the service lists: what showed that the list was whole. */
  evidence: z.optional(z.string()),
});

/** The first line of a statement. */
export type StatementHeader = z.output<typeof headerSchema>;

export const lineSchema = z.strictObject({
  digest: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  at: count,
  category: z.optional(z.string()),
  source: z.optional(z.string()),
  /** Of a lead within a day of the period: on which side it is. */
  border: z.optional(z.enum(['before', 'after'])),
});

/** What a statement says of one lead; `at` in milliseconds since the epoch. */
export type StatementLine = z.output<typeof lineSchema>;

/** The last line. */
export const signatureSchema = z.strictObject({
  signature: z.string().check(z.regex(/^[A-Za-z0-9+/]{86}==$/)),
});

/** How far a statement goes beyond its period on both sides, so that leads at the border can be told from missing ones. */
export const borderMs = 86_400_000;

/** Where a time is that is not in the period. */
export const borderOf = (
  at: number,
  { since, until }: { readonly since: number; readonly until: number },
): StatementLine['border'] => (at < since ? 'before' : at >= until ? 'after' : undefined);

/** The key of every digest of one partner and period. */
export interface StatementSalt {
  /** The key in the two forms that RFC 2104 hashes in front of a text, and of its hash. */
  readonly inner: Buffer;
  readonly outer: Buffer;
  /** Tells two salts apart, and nothing about them. */
  readonly fingerprint: string;
}

export const statementSaltBytes = 32;

export const saltOf = (bytes: Uint8Array): StatementSalt => ({
  inner: padded(bytes, 0x36),
  outer: padded(bytes, 0x5c),
  fingerprint: hash('sha256', Buffer.concat([Buffer.from('leads/salt/1\n'), bytes])).slice(0, 16),
});

/** A key is as long as a block of SHA-256, or shorter. */
const padded = (key: Uint8Array, byte: number): Buffer =>
  Buffer.alloc(64, byte).map((pad, i) => pad ^ (key[i] ?? 0)) as Buffer;

/** What stands for the id of a lead: HMAC-SHA-256. `createHmac` takes four times as long to prepare the key each time. */
export const idDigest = ({ inner, outer }: StatementSalt, leadId: string): string =>
  hash('sha256', Buffer.concat([outer, sha256(Buffer.concat([inner, Buffer.from(leadId)]))]));

/** A line of a statement, without its line break. */
export const lineText = (line: StatementHeader | StatementLine): string => JSON.stringify(line);

export function readHeader(line: string): StatementHeader | undefined {
  const header = readCanonical(line, headerSchema);
  const isReceived = header?.basis === 'received';
  const isWhole =
    isReceived === (header?.ledger !== undefined) && isReceived === (header?.evidence === undefined);
  return isWhole ? header : undefined;
}
export const readLine = (line: string): StatementLine | undefined => readCanonical(line, lineSchema);

/** Only what is written in the one way that it can be: names once, no white space, whole numbers. */
function readCanonical<S extends z.ZodMiniType>(line: string, schema: S): z.output<S> | undefined {
  const value = jsonIn(line);
  return JSON.stringify(value) === line ? z.safeParse(schema, value).data : undefined;
}

/** What is signed: this, and the SHA-256 of all bytes before the last line. */
export const signedMessage = (digest: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from('leads/statement/1\n'), digest]);

export const signatureText = (signature: Uint8Array): string =>
  `{"signature":"${Buffer.from(signature).toString('base64')}"}\n`;

/** The last line is always as long as this, in bytes. */
export const signatureLength = 105;

/** Undefined for a text that is no last line. */
export function readSignature(text: string): Buffer | undefined {
  const line = text.endsWith('\n') ? readCanonical(text.slice(0, -1), signatureSchema) : undefined;
  return line && base64Bytes(line.signature);
}
