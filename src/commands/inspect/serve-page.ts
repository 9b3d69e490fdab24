import { messageOf } from '../../errors.ts';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { withOutputErrors } from '../../files/errors.ts';
import {
  type InspectServer,
  type InspectServerOptions,
  openInspectServer,
} from '../../inspect/open-inspect-server.ts';

interface PageOptions extends Omit<InspectServerOptions, 'clock' | 'onError' | 'onNextUrl'> {
  readonly open: boolean;
}

export async function servePage(
  { open, ...options }: PageOptions,
  context: Pick<Context, 'clock' | 'messages' | 'stderr' | 'platform' | 'env'>,
): Promise<Pick<InspectServer, 'close'>> {
  const { clock, messages, stderr } = context;
  let removeFile = (): Promise<void> => Promise.resolve();
  const server = await openInspectServer({
    ...options,
    clock,
    onNextUrl(url) {
      void removeFile();
      messages.say('the page was opened; its next address, for another browser:');
      stderr.write(`${url}\n`);
    },
    onError: (error) => messages.note('inspect', `a request of the page failed: ${messageOf(error)}`),
  });
  messages.say(`inspect ${options.location} at:`);
  // The address is printed under --quiet, too: it cannot be guessed.
  stderr.write(`${server.url}\n`);
  const close = async (): Promise<void> => {
    await removeFile();
    await server.close();
  };
  try {
    if (open) removeFile = await openBrowser(server.url, context);
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
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
