import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { call, settled } from './ask.ts';
import { DemoError } from './demo-error.ts';
import { type Child, type Finished, type Place, start } from './child.ts';
import { compare } from './compare.ts';
import { freePort } from './free-port.ts';
import type { Stage } from './stage.ts';

const leads = 6;
const token = 'demo-token';

/** Every step in turn; what goes on running is put into `running`. Throws `Broken` at the first step that fails. */
export async function tour(
  stage: Stage,
  place: Place,
  context: Context,
  running: Child[],
): Promise<{ baseUrl: string; token: string }> {
  const hookPort = await freePort(8443);
  const servicePort = await freePort(8080);
  const baseUrl = `http://127.0.0.1:${servicePort}`;
  const begin = (argv: readonly string[]): Child => {
    const child = start(argv, place, context);
    running.push(child);
    return child;
  };
  const finish = async (argv: readonly string[], stdin?: string): Promise<Finished> => {
    const finished = await start(argv, place, context, stdin).done;
    context.signal.throwIfAborted();
    if (finished.exitCode !== 0)
      throw new DemoError(`exit ${finished.exitCode ?? 'by a signal'}: ${finished.stderr}`);
    return finished;
  };

  await stage.step('A service: six leads, and deliveries that wait, some of them bad.');
  const hook = `https://localhost:${hookPort}/`;
  const faults = 'duplicate=20%,badSignature=20%';
  const portFlag = servicePort === 8080 ? [] : ['--port', String(servicePort)];
  const about = ['--leads', String(leads), '--seed', '15', '--paused', ...portFlag];
  const pushing = ['--webhook', hook, '--token', token];
  await stage.typed(
    [
      `leads sandbox ${about.join(' ')} \\`,
      `    ${pushing.join(' ')} \\`,
      `    --delivery-faults ${faults}`,
    ].join('\n'),
  );
  const sandbox = begin(['sandbox', ...about, ...pushing, '--delivery-faults', faults]);
  await stage.shown([await need(sandbox, /^ready/)]);

  await stage.step('Log in: the key is tried with one real call, then stored.');
  await stage.typed(`echo sandbox-key | leads login --base-url ${baseUrl}`);
  await stage.shown(lines(await finish(['login', '--base-url', baseUrl], 'sandbox-key\n')));

  await stage.step('List: the newest leads, in any script.');
  const list = ['list', '--fields', 'id,category,contact.name,status'];
  await stage.typed(`leads ${list.join(' ')}`);
  const listed = await finish(list);
  await stage.shown(lines(listed));
  expect(listed.stdout.match(/lead_/g)?.length === leads, 'the table does not show every lead');

  await stage.step("Export: one lead per line, in the service's own bytes.");
  await stage.typed('leads export > leads.ndjson');
  const exported = await finish(['export']);
  await writeFile(join(place.directory, 'leads.ndjson'), exported.stdout);
  await stage.shown(exported.stderr.trimEnd().split('\n'));
  await stage.typed('head -n 2 leads.ndjson');
  await stage.shown(exported.stdout.split('\n').slice(0, 2));

  await stage.step('Listen: HTTPS, verified, stored before it is answered, in another terminal.');
  const listen = ['listen', '--token', token, ...(hookPort === 8443 ? [] : ['--port', String(hookPort)])];
  await stage.typed(`leads ${listen.join(' ')}`);
  const listener = begin(listen);
  await stage.shown([await need(listener, /^listening/)]);

  await stage.step('Push: the service delivers; what comes twice or is forged is told apart.');
  const resume = `${baseUrl}/sandbox/deliveries/resume`;
  await stage.typed(`curl -X POST ${resume}`);
  await stage.shown([await call('POST', resume)]);
  await settled(baseUrl, context);
  listener.interrupt();
  const { exitCode, stdout, stderr } = await listener.done;
  await stage.shown([...stdout.trimEnd().split('\n'), stderr.trimEnd().split('\n').at(-1) ?? '']);
  expect(exitCode === 0, `listen ended with ${exitCode ?? 'a signal'}`);
  expect(count(stdout, / accepted /) === leads, 'not every lead was accepted once');
  expect(count(stdout, / duplicate /) > 0, 'no delivery was told to be a duplicate');
  expect(count(stdout, / rejected /) > 0, 'no forged delivery was rejected');

  await stage.step('Compare: what was pushed is what can be pulled.');
  await stage.typed('leads inbox export > received.ndjson');
  const received = await finish(['inbox', 'export']);
  await stage.shown(received.stderr.trimEnd().split('\n'));
  const { pulled, pushed, differences } = compare(
    await readFile(join(place.directory, 'leads.ndjson'), 'utf8'),
    received.stdout,
  );
  expect(pulled === leads && differences.length === 0, differences.join('; '));
  await stage.good(`${pulled} pulled, ${pushed} pushed: the same ids and, beside the status, the same bytes`);
  return { baseUrl, token };
}

function expect(held: boolean, otherwise: string): void {
  if (!held) throw new DemoError(otherwise);
}

async function need(child: Child, pattern: RegExp): Promise<string> {
  const found = await child.line(pattern);
  if (found === undefined) throw new DemoError(child.lines.join('\n') || 'it printed nothing');
  return found;
}

const lines = ({ stdout, stderr }: Finished): string[] => (stdout + stderr).trimEnd().split('\n');

const count = (printed: string, pattern: RegExp): number =>
  printed.split('\n').filter((line) => pattern.test(line)).length;
