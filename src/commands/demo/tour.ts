import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { requestControl, waitUntilDelivered } from './control-request.ts';
import { DemoError } from './demo-error.ts';
import {
  type LeadsProcess,
  type FinishedProcess,
  type DemoDirectories,
  startLeads,
} from './leads-process.ts';
import { compare } from './compare-leads.ts';
import { freePort } from './free-port.ts';
import type { TourPrinter } from './tour-printer.ts';

const leadCount = 6;
const token = 'demo-token';

/** Runs every step; commands that keep running are added to `running`. Throws a `DemoError` at the first wrong result. */
export async function tour(
  printer: TourPrinter,
  directories: DemoDirectories,
  context: Context,
  running: LeadsProcess[],
): Promise<{ baseUrl: string; token: string }> {
  const hookPort = await freePort(8443);
  const servicePort = await freePort(8080);
  const baseUrl = `http://127.0.0.1:${servicePort}`;
  const startCommand = (argv: readonly string[]): LeadsProcess => {
    const child = startLeads(argv, directories, context);
    running.push(child);
    return child;
  };
  const runCommand = async (argv: readonly string[], stdin?: string): Promise<FinishedProcess> => {
    const finished = await startLeads(argv, directories, context, stdin).finished;
    context.signal.throwIfAborted();
    if (finished.exitCode !== 0)
      throw new DemoError(`exit ${finished.exitCode ?? 'by a signal'}: ${finished.stderr}`);
    return finished;
  };

  await printer.step('A service: six leads, and deliveries that wait, some of them bad.');
  const webhookUrl = `https://localhost:${hookPort}/`;
  const faults = 'duplicate=20%,badSignature=20%';
  const portFlag = servicePort === 8080 ? [] : ['--port', String(servicePort)];
  const sandboxFlags = ['--leads', String(leadCount), '--seed', '15', '--paused', ...portFlag];
  const webhookFlags = ['--webhook', webhookUrl, '--token', token];
  await printer.command(
    [
      `leads sandbox ${sandboxFlags.join(' ')} \\`,
      `    ${webhookFlags.join(' ')} \\`,
      `    --delivery-faults ${faults}`,
    ].join('\n'),
  );
  const sandbox = startCommand(['sandbox', ...sandboxFlags, ...webhookFlags, '--delivery-faults', faults]);
  await printer.output([await waitForReady(sandbox, /^ready/)]);

  await printer.step('Log in: the key is tried with one real call, then stored.');
  await printer.command(`echo sandbox-key | leads login --base-url ${baseUrl}`);
  await printer.output(lines(await runCommand(['login', '--base-url', baseUrl], 'sandbox-key\n')));

  await printer.step('List: the newest leads, in any script.');
  const list = ['list', '--fields', 'id,category,contact.name,status'];
  await printer.command(`leads ${list.join(' ')}`);
  const listed = await runCommand(list);
  await printer.output(lines(listed));
  check(listed.stdout.match(/lead_/g)?.length === leadCount, 'the table does not show every lead');

  await printer.step("Export: one lead per line, in the service's own bytes.");
  await printer.command('leads export > leads.ndjson');
  const exported = await runCommand(['export']);
  await writeFile(join(directories.workDir, 'leads.ndjson'), exported.stdout);
  await printer.output(exported.stderr.trimEnd().split('\n'));
  await printer.command('head -n 2 leads.ndjson');
  await printer.output(exported.stdout.split('\n').slice(0, 2));

  await printer.step('Listen: HTTPS, verified, stored before it is answered, in another terminal.');
  const listen = ['listen', '--token', token, ...(hookPort === 8443 ? [] : ['--port', String(hookPort)])];
  await printer.command(`leads ${listen.join(' ')}`);
  const listener = startCommand(listen);
  await printer.output([await waitForReady(listener, /^listening/)]);

  await printer.step('Push: the service delivers; duplicates and forgeries are recognized.');
  const resume = `${baseUrl}/sandbox/deliveries/resume`;
  await printer.command(`curl -X POST ${resume}`);
  await printer.output([await requestControl('POST', resume)]);
  await waitUntilDelivered(baseUrl, context);
  listener.interrupt();
  const { exitCode, stdout, stderr } = await listener.finished;
  await printer.output([...stdout.trimEnd().split('\n'), stderr.trimEnd().split('\n').at(-1) ?? '']);
  check(exitCode === 0, `listen ended with ${exitCode ?? 'a signal'}`);
  check(count(stdout, / accepted /) === leadCount, 'not every lead was accepted once');
  check(count(stdout, / duplicate /) > 0, 'no delivery was recognized as a duplicate');
  check(count(stdout, / rejected /) > 0, 'no forged delivery was rejected');

  await printer.step('Compare: what was pushed is what can be pulled.');
  await printer.command('leads inbox export > received.ndjson');
  const received = await runCommand(['inbox', 'export']);
  await printer.output(received.stderr.trimEnd().split('\n'));
  const { pulled, pushed, differences } = compare(
    await readFile(join(directories.workDir, 'leads.ndjson'), 'utf8'),
    received.stdout,
  );
  check(pulled === leadCount && differences.length === 0, differences.join('; '));
  await printer.success(
    `${pulled} pulled, ${pushed} pushed: the same ids and, beside the status, the same bytes`,
  );
  return { baseUrl, token };
}

function check(condition: boolean, problem: string): void {
  if (!condition) throw new DemoError(problem);
}

async function waitForReady(child: LeadsProcess, pattern: RegExp): Promise<string> {
  const found = await child.waitForLine(pattern);
  if (found === undefined) throw new DemoError(child.lines.join('\n') || 'it printed nothing');
  return found;
}

const lines = ({ stdout, stderr }: FinishedProcess): string[] => (stdout + stderr).trimEnd().split('\n');

const count = (printed: string, pattern: RegExp): number =>
  printed.split('\n').filter((line) => pattern.test(line)).length;
