import { isLoopbackAddress } from '../../config/base-url.ts';
import { messageOf } from '../../errors.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import { shellWord } from '../../front.ts';
import type { HttpServer } from '../../http/server/server-options.ts';
import type { MetricFamily } from '../../output/openmetrics.ts';
import { openAdminServer, readiness } from '../../receiver/admin-server.ts';
import { backlogCache, backlogFamilies, inboxUp } from '../../receiver/receiver-metrics.ts';
import type { Receiver } from '../../receiver/receiver.ts';
import { certificateFiles, certificateFor, renewOwnCertificate } from './renewed-files.ts';
import type { ListenOptions } from './command.ts';
import type { Listening } from './print.ts';
import type { ListenSession } from './session.ts';
import { onAbort } from './stop-condition.ts';

/** Opens the port of a receiver. From then on the certificate is renewed when it has to be. */
export async function openServer(session: ListenSession, receiver: Receiver) {
  const { flags, context, verifier, inbox, metrics, stop, closers } = session;
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
    onFailedHandshake({ code, problem, remote }) {
      metrics?.failed('handshake');
      // A client that leaves the handshake without an alert mostly distrusts the certificate as well.
      const mayDistrust = ['client-distrusts-certificate', 'client-left-handshake'].includes(problem.kind);
      const { caPath } = certificate;
      const trust = mayDistrust && caPath !== undefined ? ` (to trust: ${caPath})` : '';
      const peer = remote === '' ? '' : `${remote}: `;
      messages.note(`handshake ${code}`, `${peer}${problem.message}${trust}`);
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
  const useCertificate = server.renew.bind(server);
  const renewal = renewOwnCertificate(certificate, useCertificate, context, stop.signal);
  closers.push(() => renewal);
  onAbort(stop.stopping, () => server.endConnections());
  return { server, listening, files: await certificateFiles(certificate, useCertificate, flags, clock) };
}

/** `--admin`: opens the port for probes and metrics, and prints its address. Undefined without the flag. */
export async function openAdmin(session: ListenSession): Promise<HttpServer | undefined> {
  const { flags, context, metrics, inbox, targets, stop } = session;
  const { admin: address } = flags;
  if (address === undefined || metrics === undefined) return undefined;
  const { clock, messages } = context;
  const backlog = backlogCache(inbox, clock);
  const names = targets.map(({ name }) => name);
  const readBacklog = async (): Promise<MetricFamily[]> => {
    try {
      return [inboxUp(1), ...backlogFamilies(await backlog(), names, clock.now())];
    } catch (error) {
      messages.note('backlog', `the metrics lack what is outstanding: ${messageOf(error)}`);
      return [inboxUp(0)];
    }
  };
  const server = await openAdminServer({
    ...address,
    addressOption: 'admin',
    whyNotReady: readiness(inbox, clock, stop.stopping),
    clock,
    onError: (error) => messages.note('admin', `a request to --admin failed: ${messageOf(error)}`),
    metrics: async () => [...metrics.families(), ...(await readBacklog())],
  });
  messages.say(`admin on ${server.url}: /livez, /readyz, /metrics`);
  if (!isLoopbackAddress(address.host)) {
    messages.warn(`--admin is bound to ${address.host}: other machines can read its state and metrics`);
  }
  return server;
}

/**
 * Prints the address in one line, and warns of flags that let others than the service deliver leads. With `--format pretty` it
 * also prints how to try the receiver, and how to reach it from outside.
 */
export function announce(listening: Listening, { flags, context }: ListenSession): void {
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
  messages.say(`  tunnel   ${tunnelAdvice(new URL(url).port, flags)}`);
}

function tunnelAdvice(port: string, { http, verify }: ListenOptions): string {
  // Without a credential, only requests for this host are accepted, so a tunnel must not pass on the host of its own.
  const cloudflaredFlags = verify ? '' : ' --http-host-header localhost';
  const ngrokFlags = verify ? '' : ' --host-header localhost';
  const cloudflared = `cloudflared tunnel --url http://localhost:${port}${cloudflaredFlags}`;
  return `${http ? '' : 'add --http, then '}${cloudflared}, or ngrok http ${port}${ngrokFlags}`;
}

/** A command that delivers a lead; undefined for a scheme that signs, which curl cannot do. */
function curlCommand({ url, caPath, scheme, path }: Listening, options: ListenOptions): string | undefined {
  if (scheme !== 'token' && scheme !== 'none') return undefined;
  const trust = caPath === undefined ? '' : ` --cacert ${shellWord(caPath)}`;
  const header = scheme === 'none' ? '' : ` -H "x-webhook-token: ${shellToken(options)}"`;
  return `curl${trust}${header} -H content-type:application/json -d '{"id":"try-1"}' ${url}${path ?? '/'}`;
}

/** The shell's text that gives the token. The token itself must not get onto the screen or into the history of the shell. */
function shellToken({ token, tokenFile }: ListenOptions): string {
  const file = tokenFile.find((name) => name !== '-');
  if (file !== undefined) return `$(cat ${shellWord(file)})`;
  return token.length > 0 ? 'YOUR-TOKEN' : '$LEADS_WEBHOOK_TOKEN';
}
