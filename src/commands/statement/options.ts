import { oneOf, text, type ValueType } from '../../config/value-types.ts';
import { signerName } from '../../statement/signed-note.ts';
import { type LineField, lineFields } from '../../statement/statement-format.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { formatFlags, htmlFlag, timeFlags, inboxFlags } from '../flags/shared-flags.ts';

const fields: ValueType<readonly LineField[]> = {
  parse: (typed) => {
    const named = typed.split(',').map((name) => oneOf(lineFields).parse(name.trim()));
    return named.every((name) => name !== undefined) ? [...new Set(named)] : undefined;
  },
  expected: 'category, source, or both with a comma between them',
};

const signer: ValueType<string> = {
  parse: (typed) => (signerName.test(typed) ? typed : undefined),
  expected: 'a name without spaces and plus signs, such as acme.example',
};

const keyFlag = {
  keyFile: {
    value: 'file',
    type: text,
    otherwise: 'statement.key of the configuration',
    help: 'the key that signs',
  },
} satisfies Flags;

const publicKeyFlag = {
  publicKey: {
    value: 'file',
    type: text,
    otherwise: 'your own, and statement-signers of the configuration',
    help: 'keys of those who may have signed it, one a line',
  },
} satisfies Flags;

const saltFlag = {
  salt: {
    value: 'file',
    type: text,
    help: "agreed with the partner: 'leads statement salt'",
  },
} satisfies Flags;

const previousFlag = {
  previous: { value: 'file', type: text, help: 'the statement before this one' },
} satisfies Flags;

const outputFlag = {
  output: { short: 'o', value: 'file', type: text, help: 'where to write it' },
} satisfies Flags;

const { in: stretch, zone } = timeFlags('received');

export const makeFlags = {
  in: stretch,
  zone,
  from: {
    value: 'side',
    type: oneOf(['inbox', 'service']),
    otherwise: 'inbox',
    help: 'service: of what it lists, by creation, where that is proven complete',
  },
  by: { value: 'fields', type: fields, help: 'say of each lead its category, source, or both' },
  ...outputFlag,
  ...htmlFlag,
  ...saltFlag,
  ...previousFlag,
  ...keyFlag,
  ...inboxFlags,
} satisfies Flags;

export type MakeOptions = OptionsOf<typeof makeFlags>;

export const keyArgs = {
  name: { type: signer, optional: true, help: 'of who signs, such as acme.example: makes the key' },
} satisfies Arguments;

export const keyFlags = keyFlag;
export type KeyOptions = ArgumentsOf<typeof keyArgs> & OptionsOf<typeof keyFlags>;

export const saltFlags = outputFlag;
export type SaltOptions = OptionsOf<typeof saltFlags>;

export const checkpointFlags = {
  newLedger: { help: 'begin a new ledger, which names the one that it takes the place of' },
  ...keyFlag,
  ...inboxFlags,
} satisfies Flags;

export type CheckpointOptions = OptionsOf<typeof checkpointFlags>;

export const signArgs = {
  file: { type: text, known: 'files', help: 'with their checkpoint' },
} satisfies Arguments;

export const signFlags = { ...publicKeyFlag, ...keyFlag } satisfies Flags;
export type SignOptions = ArgumentsOf<typeof signArgs> & OptionsOf<typeof signFlags>;

export const verifyArgs = {
  file: {
    type: text,
    known: 'files',
    optional: true,
    help: 'a statement; without one, the inbox is verified',
  },
} satisfies Arguments;

export const profilesInbox = "the profile's own";

export const verifyFlags = {
  ...publicKeyFlag,
  ...previousFlag,
  lead: { value: 'id', type: text, help: 'prove that this lead is in it, or is not; needs --salt' },
  ...saltFlag,
  inbox: { ...inboxFlags.inbox, bare: profilesInbox, help: 'recompute the ledger of this inbox' },
  checkpoint: {
    value: 'file',
    type: text,
    help: 'of this inbox, as the other side has kept it',
  },
} satisfies Flags;

export type VerifyOptions = ArgumentsOf<typeof verifyArgs> & OptionsOf<typeof verifyFlags>;

export const compareArgs = {
  ours: { type: text, known: 'files', help: 'a statement' },
  theirs: { type: text, known: 'files', help: 'a statement, or ids or leads as CSV or NDJSON' },
} satisfies Arguments;

export const compareFlags = {
  ...saltFlag,
  ...publicKeyFlag,
  ...formatFlags(['table', 'json']),
} satisfies Flags;
export type CompareOptions = ArgumentsOf<typeof compareArgs> & OptionsOf<typeof compareFlags>;
