import { type Command, Option } from 'commander';
import { addRecipeFlags, addSchemeFlags } from '../scheme-flags.ts';
import { lazily, type CommandSpec } from '../command-spec.ts';

export default {
  name: 'sandbox',
  summary: 'the whole service on this machine, to develop and test against',
  description:
    'the whole service on this machine, to develop and test against: the list operation with filters, keys, pages and ' +
    'rate limits, and webhook delivery with retries, over one seeded set of leads, with faults on demand',
  formats: ['pretty', 'json'],
  flags: addFlags,
  examples: [
    'leads sandbox',
    'leads sandbox --webhook https://localhost:8443/hook --token secret --every 1s',
    "leads sandbox --leads 1000 --pagination page --faults 'status500=5%,reset=2%,slow=1%:2s'",
  ],
  run: lazily(() => import('./run.ts')),
} satisfies CommandSpec;

function addFlags(command: Command): void {
  const several = (flags: string, text: string): Option =>
    new Option(flags, text).argParser((value, before: string[] | undefined) => [...(before ?? []), value]);
  command
    .optionsGroup('Leads:')
    .option('--leads <n>', 'how many there are at the start (default: 250)')
    .option('--seed <seed>', 'same seed, same leads and faults (default: 1)')
    .option('--newest <time>', 'when the newest of them came (default: today at 00:00 UTC)')
    .option('--from <file>', 'leads of an NDJSON file instead, in their own bytes (- for stdin)')
    .option('--every <duration>', 'a new lead each')
    .optionsGroup('Webhook delivery:')
    .addOption(several('--webhook <url>', 'deliver every lead there (repeatable)'))
    .option('--retry <durations>', "waits before retries, or 'none' (default: 1s,5s,30s)")
    .option('--paused', 'hold deliveries until POST /sandbox/deliveries/resume')
    .option('--delivery-timeout <duration>', 'for one attempt (default: 10s)')
    .option('--delivery-concurrency <n>', 'in flight per target (default: 8)');
  addSchemeFlags(command, 'How deliveries are signed:');
  command
    .optionsGroup('Faults:')
    .option('--faults <list>', "of the API, such as 'status500=5%,status429=5%:2s,reset=2%,slow=1%'")
    .option('--delivery-faults <list>', "such as 'duplicate=5%,reorder=5%,drop=2%,badSignature=1%'")
    .optionsGroup('The API:')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on, 0 for any (default: 8080)')
    .option('--tls', 'HTTPS, with a certificate of the local authority')
    .addOption(
      several('--api-key <key>', 'that opens the API (repeatable; default: LEADS_API_KEY or sandbox-key)'),
    )
    .addOption(several('--api-key-file <file>', 'the same, from a file (- for stdin)'))
    .option('--path <path>', 'of the list operation (default: /api/leads)')
    .option('--pagination <style>', 'cursor (default), page, offset, link or none')
    .option('--next <form>', 'how the body leads on: cursor, url, path, id, number or none')
    .option('--next-field <name>', 'its name, such as meta.next_cursor (default: as is usual)')
    .option('--envelope <name>', 'array in the body, such as result.leads, or none (default: data)')
    .addOption(several('--param <name=name>', 'rename a parameter: since=createdAfter; since= removes it'))
    .option('--order <order>', 'newest (default) or oldest first')
    .option('--default-limit <n>', 'page size without a limit (default: 50)')
    .option('--max-limit <n>', 'largest page (default: 1000)')
    .option('--rate-limit <n/duration>', 'requests in a window, such as 100/1m')
    .option('--status-field <name>', 'of the delivery status in each lead (default: status)')
    .option('--no-totals', 'no total in page and offset bodies')
    .option('--no-gzip', 'never compress');
  addRecipeFlags(command);
}
