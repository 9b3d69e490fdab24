import { command, members } from '../flags/command-spec.ts';
import {
  checkpointFlags,
  compareArgs,
  compareFlags,
  keyArgs,
  keyFlags,
  makeFlags,
  saltFlags,
  signArgs,
  signFlags,
  verifyArgs,
  verifyFlags,
} from './options.ts';

export default command({
  name: 'statement',
  summary: 'what was delivered, signed, and comparable without data',
  description:
    'A tree and a key that one side holds prove nothing against that side: a checkpoint that was given away fixes ' +
    'everything before it. That all that came was stored is not proved.',
  flags: makeFlags,
  everyday: ['in', 'output'],
  exits: { 6: '', 7: 'the inbox is behind what was signed' },
  examples: [
    'leads statement --in last-month --salt partner.salt -o october.ndjson',
    'leads statement verify october.ndjson --public-key partner.pub',
    'leads statement compare october.ndjson theirs.ndjson',
  ],
  subcommands: [
    command({
      name: 'key',
      summary: 'make the key that signs, or print its public half',
      arguments: keyArgs,
      flags: keyFlags,
      examples: ['leads statement key acme.example', 'leads statement key > acme.pub'],
      load: async () => ({ run: (await import('./checkpoint.ts')).key }),
    }),
    command({
      name: 'salt',
      summary: 'make a salt for a partner and a period',
      flags: saltFlags,
      examples: ['leads statement salt -o partner.salt'],
      load: async () => ({ run: (await import('./checkpoint.ts')).salt }),
    }),
    command({
      name: 'checkpoint',
      summary: 'print the signed head of the ledger, to be given away',
      flags: checkpointFlags,
      exits: { 6: '', 7: 'the inbox is behind what was signed' },
      examples: ['leads statement checkpoint > acme.checkpoint'],
      load: async () => ({ run: (await import('./checkpoint.ts')).checkpoint }),
    }),
    command({
      name: 'sign',
      summary: 'sign their checkpoint too, and print it',
      arguments: signArgs,
      flags: signFlags,
      exits: { 6: '', 7: 'its signer is unknown, or it is older than one that was signed' },
      examples: ['leads statement sign their.checkpoint --public-key their.pub > signed.checkpoint'],
      load: async () => ({ run: (await import('./checkpoint.ts')).sign }),
    }),
    command({
      name: 'verify',
      summary: 'does a statement hold, or the inbox?',
      description:
        'Without a file the inbox: every stored lead is hashed again, and compared with the checkpoint that the other ' +
        'side kept.',
      arguments: verifyArgs,
      flags: verifyFlags,
      everyday: ['publicKey', 'previous', 'inbox', 'checkpoint'],
      exits: { 6: '', 7: 'it does not hold, or its signer is unknown' },
      schema: 'statement.verify',
      output: [
        { what: 'with --lead, where it is in it', fields: members('index line path lines root') },
        { what: 'with --lead, where it is not', fields: members('absent between lines root') },
      ],
      examples: [
        'leads statement verify october.ndjson --public-key partner.pub',
        'leads statement verify --inbox inbox.db --checkpoint acme.checkpoint',
      ],
      load: () => import('./verify.ts'),
    }),
    command({
      name: 'compare',
      summary: 'which leads are on one side only?',
      description:
        'By digests that both made with one salt: who holds it can test ids that they guess, so they are pseudonymous, ' +
        'not anonymous. Ids alone count as in the period.',
      arguments: compareArgs,
      flags: compareFlags,
      exits: { 6: '', 7: 'they are not equal' },
      schema: 'statement.compare',
      output: [
        {
          what: 'one document',
          fields: members('both onlyHere onlyThere otherPeriodThere otherPeriodHere otherFields differences'),
        },
      ],
      examples: [
        'leads statement compare ours.ndjson theirs.ndjson',
        'leads statement compare ours.ndjson their-ids.csv --salt partner.salt --json',
      ],
      load: () => import('./compare.ts'),
    }),
  ],
  load: () => import('./make.ts'),
});
