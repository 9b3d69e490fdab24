import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import {
  type InspectServer,
  type InspectServerOptions,
  openInspectServer,
} from '../../inspect/open-inspect-server.ts';
import { openBrowser } from './open-browser.ts';

interface PageOptions extends Omit<InspectServerOptions, 'clock' | 'onError' | 'onSession'> {
  readonly open: boolean;
}

/** How long the file that leads the browser to the page stays at the most, in milliseconds. */
const openingMs = 60_000;

/** Serves the page, says where it is, and opens it where that is asked for. */
export async function servePage(
  { open, ...options }: PageOptions,
  context: Pick<Context, 'clock' | 'messages' | 'stderr' | 'platform' | 'env'>,
): Promise<Pick<InspectServer, 'close' | 'wake'>> {
  const { clock, messages, stderr } = context;
  let removeFile = (): Promise<void> => Promise.resolve();
  const server = await openInspectServer({
    ...options,
    clock,
    onSession: () => void removeFile(),
    onError: (error) => messages.note('inspect', `a request of the page failed: ${messageOf(error)}`),
  });
  messages.say(`inspect ${options.location} at:`);
  // Also under --quiet: nobody can guess the key.
  stderr.write(`${server.url}\n`);
  const timer = setTimeout(() => void removeFile(), openingMs);
  timer.unref();
  const close = async (): Promise<void> => {
    clearTimeout(timer);
    await removeFile();
    await server.close();
  };
  try {
    if (open) removeFile = await openBrowser(server.url, context);
  } catch (error) {
    await close();
    throw error;
  }
  return { wake: () => server.wake(), close };
}
