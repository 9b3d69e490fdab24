import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context, Outcome } from '../../context.ts';
import { messageOf, noteText, UsageError } from '../../errors.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { type InboxLocation, locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import { openInspectServer } from '../../inspect/open-inspect-server.ts';
import { Replayer, replayTarget } from '../../inspect/replayer.ts';
import { claimMsFor } from '../../receiver/forward-worker.ts';
import type { Signer } from '../../sender/sign-request.ts';
import { openOnceThere, rejectMissing, resolveInbox } from '../flags/resolve-inbox.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import { resolveTarget } from '../flags/delivery-target.ts';
import type { InspectOptions } from './command.ts';

export async function run(options: InspectOptions, context: Context): Promise<Outcome> {
  const { clock, messages, signal, stderr } = context;
  const settings = await context.settings();
  const { timeoutMs } = settings;
  const location = await resolveInbox(options, settings, context);
  rejectInMemory(location);
  rejectMissing(location);
  const signer = await replaySigner(options, context);
  const targets = await Promise.all(
    options.replayTo.map(async (url) => {
      const { proxy, trust } = await resolveTarget(url, {}, context);
      return replayTarget({ url, proxy, trust, timeoutMs, now: () => clock.now(), signal }, signer);
    }),
  );
  const reader = await openOnceThere(location, () => openInboxReader({ location, clock }), context);
  const replays = new Replayer({
    targets,
    async openInbox(target) {
      // Fails where another inbox has replaced the one of the page: there, the same numbers are those of other leads.
      await reader.changeMark();
      return openInbox({
        location,
        clock,
        targets: [target.name],
        claimMs: claimMsFor(timeoutMs),
        warn: (warning) => messages.warn(noteText(warning)),
      });
    },
    clock,
  });
  let removeFile = (): Promise<void> => Promise.resolve();
  try {
    const place = locationText(location);
    const server = await openInspectServer({
      port: options.port,
      location: place,
      inbox: reader,
      replays,
      clock,
      onNextUrl(url) {
        void removeFile();
        messages.say('the page was opened; its next address, for another browser:');
        stderr.write(`${url}\n`);
      },
      onError: (error) => messages.note('inspect', `a request of the page failed: ${messageOf(error)}`),
    });
    messages.say(`inspect ${place} at:`);
    // The address is printed under --quiet, too: it cannot be guessed.
    stderr.write(`${server.url}\n`);
    try {
      if (options.open) removeFile = await openBrowser(server.url, context);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await server.close();
    }
    return 'done';
  } finally {
    await removeFile();
    await replays.close();
    await reader.close();
  }
}

/** Signs replays as `send` signs; undefined where neither a flag, nor the environment, nor the profile says how. */
async function replaySigner(options: InspectOptions, context: Context): Promise<Signer | undefined> {
  const { webhookScheme, webhookToken } = await context.settings();
  const { replayTo, scheme, token, tokenFile, secret, secretFile, verify } = options;
  const isNamed =
    [token, tokenFile, secret, secretFile].some((list) => list.length > 0) ||
    [scheme, webhookScheme, webhookToken].some((value) => value !== undefined);
  return replayTo.length > 0 && isNamed && verify ? resolveSigner(options, context) : undefined;
}

function rejectInMemory(location: InboxLocation): void {
  if (location === ':memory:') {
    throw new UsageError('an inbox in memory is of one process: there is nothing to inspect', {
      hint: 'name a file: --inbox FILE',
    });
  }
}

/** The program that opens a file with the program of the user's choice; undefined on a machine without a desktop. */
export function opener({ platform, env }: Pick<Context, 'platform' | 'env'>): string | undefined {
  if (platform === 'darwin') return 'open';
  if (platform === 'win32') return 'explorer.exe';
  const hasDisplay = [env['DISPLAY'], env['WAYLAND_DISPLAY'], env['BROWSER']].some(
    (value) => value !== undefined && value !== '',
  );
  return hasDisplay ? 'xdg-open' : undefined;
}

/**
 * Opens a file that leads to the address: the address itself must not be an argument of a program, since every user of the machine
 * can see arguments. Resolves to a function that removes the file.
 */
async function openBrowser(
  url: string,
  context: Pick<Context, 'platform' | 'env' | 'messages'>,
): Promise<() => Promise<void>> {
  const { env, messages } = context;
  const program = opener(context);
  if (program === undefined) {
    messages.note('open', 'there is no browser here: open the address yourself');
    return () => Promise.resolve();
  }
  const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'leads-inspect-'));
  const folder = await withOutputErrors(tmpdir(), makeFolder, 'TMPDIR');
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const file = join(folder, 'inspect.html');
  await writeFile(file, redirectPage(url), { flag: 'wx', mode: 0o600 });
  const child = spawn(program, [file], { env: withoutSecrets(env), stdio: 'ignore', detached: true });
  child.on('error', (error) => {
    messages.note('open', `cannot open a browser: ${messageOf(error)}`);
    void remove();
  });
  // The browser may run longer than this program.
  child.unref();
  return remove;
}

/** `url` holds no character that HTML would have to escape. */
const redirectPage = (url: string): string =>
  `<!doctype html><meta charset="utf-8"><title>leads inspect</title><meta http-equiv="refresh" content="0; url=${url}">\n`;

const withoutSecrets = (env: Context['env']): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('LEADS_')));
