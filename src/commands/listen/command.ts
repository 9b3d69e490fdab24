import { lazily, type CommandSpec } from '../command-spec.ts';
import { addRecipeFlags, addSchemeFlags } from '../scheme-flags.ts';

export default {
  name: 'listen',
  summary: 'receive pushed leads over HTTPS',
  description:
    'Receives pushed leads over HTTPS: checks who delivers, stores each lead durably, then answers 200.\nA lead that came before, in this run or any other, is a duplicate.',
  formats: ['pretty', 'events', 'leads'],
  flags: (command) => {
    addSchemeFlags(command, 'Who may deliver (one is needed):');
    command
      .optionsGroup('Where:')
      .option('--port <n>', 'to listen on, 0 for any (default: 8443)')
      .option('--host <address>', 'to listen on (default: 127.0.0.1)')
      .option('--path <path>', 'take deliveries at this path only (default: any)')
      .option('--http', 'plain HTTP, for use behind a tunnel or proxy')
      .option('--cert <file>', 'certificate in PEM (default: made by a local authority)')
      .option('--key <file>', 'its private key')
      .optionsGroup('What to do with each lead:')
      .option('--forward-to <url>', 'pass the exact bytes and headers on')
      .option('--forward-best-effort', 'answer 200 even when the app does not')
      .option('--exec <command>', 'run a command with the lead on stdin')
      .option('--output <file>', 'append each lead to a file, durably')
      .option('--inbox <file>', 'where deliveries are stored, :memory: for nowhere')
      .option('--backfill <duration>', 'on start, fetch what the inbox lacks of that window')
      .optionsGroup('For the person debugging:')
      .option('--explain', 'say which other scheme or encoding a rejected delivery would match')
      .option('--show-answer', "show the body of the forward's answer")
      .optionsGroup('For integration tests:')
      .option('--count <n>', 'end after so many new leads')
      .option('--for <duration>', 'end at the latest then; exit 7 if --count was not reached')
      .option('--respond <status>', 'answer every delivery with this status')
      .option('--fail-first <n>', 'fail the first deliveries of each lead, so that it is retried')
      .option('--delay <duration>', 'wait before each answer');
    addRecipeFlags(command);
  },
  examples: [
    'leads listen --token secret',
    'leads listen --token secret --forward-to http://localhost:3000/webhook',
    'leads listen --token secret --count 3 --for 30s --format events',
  ],
  run: lazily(() => import('./run.ts')),
} satisfies CommandSpec;
