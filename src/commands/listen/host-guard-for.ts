import type { Messages } from '../../output/messages.ts';
import { type HostGuard, hostGuard } from '../../receiver/host-guard.ts';
import type { ListenOptions } from './options.ts';

/** Needed where neither a credential nor a certificate keeps out a page in a browser on this machine. */
export function hostGuardFor(
  { http, verify, host, publicUrl }: Pick<ListenOptions, 'http' | 'verify' | 'host' | 'publicUrl'>,
  messages: Pick<Messages, 'note'>,
): HostGuard | undefined {
  if (!http || verify) return undefined;
  const own = host.includes(':') ? `[${host}]` : host;
  const names = publicUrl === undefined ? [own] : [own, publicUrl.hostname];
  return hostGuard(names, (foreign) => {
    // The sender of the request chooses the text, and an operator may paste the line into a shell.
    const url = /^[\w.-]+$/.test(foreign) ? `https://${foreign}` : 'URL';
    const advice = `if that is your tunnel, name it with --public-url ${url}`;
    messages.note('foreign host', `a request for the host '${foreign}' was answered 403; ${advice}`);
  });
}
