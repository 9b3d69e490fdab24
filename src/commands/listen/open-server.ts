import { isLoopbackAddress } from '../../config/base-url.ts';
import { messageOf } from '../../errors.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import { shellWord } from '../../front.ts';
import type { Receiver } from '../../receiver/receiver.ts';
import { certificateFiles, certificateFor, renewOwnCertificate } from './certificate.ts';
import type { ListenOptions } from './command.ts';
import type { Listening } from './print.ts';
import type { ListenSession } from './session.ts';
import { onAbort } from './stop-condition.ts';

/** Opens the socket in front of a receiver, and announces its address on stderr. */
export async function openServer(session: ListenSession, receiver: Receiver) {
  const { flags, context, verifier, inbox, metrics, stop } = session;
  const { clock, messages } = context;
  const certificate = await certificateFor(flags, context);
  const server = await openHttpsServer({
    host: flags.host,
    port: flags.port,
    tls: certificate.tls,
    clock,
    checkHead: receiver.checkHead,
    handle: receiver.handle,
    onError(error) {
      metrics?.failed('internal');
      messages.warn(`a delivery failed and was answered 503: ${messageOf(error)}`);
    },
    onRejected: (rejected, received) => void receiver.handleRejected(received, rejected),
    onHandshake({ code, problem, remote }) {
      metrics?.failed('handshake');
      const trust = certificate.caPath === undefined ? '' : ` (to trust: ${certificate.caPath})`;
      const peer = remote === '' ? '' : `${remote}: `;
      const isDistrusted = ['client-distrusts-certificate', 'client-left-handshake'].includes(problem.kind);
      messages.note(`handshake ${code}`, `${peer}${problem.message}${isDistrusted ? trust : ''}`);
    },
    onFull(connections) {
      metrics?.failed('connection_limit');
      messages.note('full', `${connections} connections are open: further ones are rejected`);
    },
  });
  const listening: Listening = {
    url: server.url,
    path: flags.path,
    scheme: verifier.scheme.name,
    inbox: inbox.location,
    caPath: certificate.caPath,
  };
  announce(listening, session);
  const use = server.renew.bind(server);
  const renewal = renewOwnCertificate(certificate, use, context, stop.signal);
  onAbort(stop.stopping, () => server.endConnections());
  return {
    files: await certificateFiles(certificate, use, flags, clock),
    listening,
    async close(drainMs: number): Promise<void> {
      await server.close(drainMs);
      await renewal;
    },
  };
}

/**
 * The address in one line, and which flags let others than the service deliver leads; in the form for people also how to
 * try it and how to reach it from outside.
 */
function announce(listening: Listening, { flags, context }: ListenSession): void {
  const { messages } = context;
  const { url, inbox } = listening;
  if (!flags.verify) messages.warn('--no-verify: anybody who can reach this port can deliver leads');
  if (!isLoopbackAddress(flags.host)) {
    messages.warn(`bound to ${flags.host}: other machines can reach this port`);
  }
  messages.say(`listening on ${url}${flags.path ?? ''}, inbox ${inbox}`);
  if (flags.format !== 'pretty') return;
  const command = curlCommand(listening, flags);
  if (command !== undefined) messages.say(`  try it   ${command}`);
  else if (listening.caPath !== undefined) messages.say(`  trust    ${listening.caPath}`);
  const { port } = new URL(url);
  const plain = flags.http ? '' : 'add --http, then ';
  // Without a credential, only requests for this host are taken.
  const [cloudflared, ngrok] = flags.verify
    ? ['', '']
    : [' --http-host-header localhost', ' --host-header localhost'];
  messages.say(
    `  tunnel   ${plain}cloudflared tunnel --url http://localhost:${port}${cloudflared}, or ngrok http ${port}${ngrok}`,
  );
}

/** Undefined for a scheme that signs: curl cannot. */
function curlCommand({ url, caPath, scheme, path }: Listening, options: ListenOptions): string | undefined {
  if (scheme !== 'token' && scheme !== 'none') return undefined;
  const trust = caPath === undefined ? '' : ` --cacert ${shellWord(caPath)}`;
  const header = scheme === 'none' ? '' : ` -H "x-webhook-token: ${shellToken(options)}"`;
  return `curl${trust}${header} -H content-type:application/json -d '{"id":"try-1"}' ${url}${path ?? '/'}`;
}

/** Never the token itself: it must not get onto the screen or into the shell's history. */
function shellToken({ token, tokenFile }: ListenOptions): string {
  const file = tokenFile.find((name) => name !== '-');
  if (file !== undefined) return `$(cat ${shellWord(file)})`;
  return token.length > 0 ? 'YOUR-TOKEN' : '$LEADS_WEBHOOK_TOKEN';
}
