import { describe } from '../../describe.ts';
import { isLoopbackAddress } from '../../config/base-url.ts';
import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import { shellWord } from '../../front.ts';
import type { Receiver } from '../../receiver/receiver.ts';
import { slept } from '../../time/clock.ts';
import type { CertificatePair } from '../../tls/issue-certificate.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { checkCertificate, readUserCertificate } from '../../tls/user-certificate.ts';
import type { ListenOptions } from './command.ts';
import type { Listening } from './print.ts';
import { isReadAgain, type RenewedFiles } from './renewed-files.ts';
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
    page: browserPage,
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
  const renewal = renewCertificate(certificate, (pair) => server.renew(pair), session);
  onAbort(stop.stopping, () => server.endConnections());
  return {
    files: await certificateFiles(certificate, (pair) => server.renew(pair), session),
    listening,
    connections: () => server.connections(),
    async close(drainMs: number): Promise<void> {
      await server.close(drainMs);
      await renewal;
    },
  };
}

interface Certificate {
  /** PEM; undefined for plain HTTP. */
  readonly tls: CertificatePair | undefined;
  /** For `curl --cacert`; undefined when the certificate is not ours. */
  readonly caPath: string | undefined;
}

export async function certificateFor(
  flags: Pick<ListenOptions, 'http' | 'cert' | 'key'>,
  { paths, clock }: Pick<Context, 'paths' | 'clock'>,
): Promise<Certificate> {
  const { http, cert, key } = flags;
  if (http) return { tls: undefined, caPath: undefined };
  if (cert !== undefined && key !== undefined) {
    return { tls: await readUserCertificate(cert, key, clock.now()), caPath: undefined };
  }
  const { caPath, certPem, keyPem } = await ensureAuthority(paths.dataDir, clock);
  return { tls: { certPem, keyPem }, caPath };
}

/** Between two checks, in milliseconds: certificates are renewed days before they expire. */
const checkEveryMs = 3_600_000;

const renewed = 'the certificate was renewed: new connections get the new one';

async function renewCertificate(
  { tls, caPath }: Certificate,
  use: (pair: CertificatePair) => void,
  { flags, context, stop }: ListenSession,
): Promise<void> {
  const { clock, messages } = context;
  if (caPath === undefined) return;
  for (let inUse = tls; await slept(clock, checkEveryMs, stop.signal);) {
    try {
      const { tls: next } = await certificateFor(flags, context);
      if (next === undefined || next.certPem === inUse?.certPem) continue;
      use(next);
      inUse = next;
      messages.note('renewed', renewed);
    } catch (error) {
      messages.note('not renewed', `the certificate was not renewed: ${describe(error).message}`);
    }
  }
}

async function certificateFiles(
  { tls }: Certificate,
  renew: (pair: CertificatePair) => void,
  { flags: { cert, key }, context: { clock } }: ListenSession,
): Promise<RenewedFiles | undefined> {
  if (cert === undefined || key === undefined) return undefined;
  if (!(await isReadAgain(cert)) || !(await isReadAgain(key))) return undefined;
  let inUse = tls;
  return {
    subject: 'the certificate was',
    paths: [cert, key],
    use(contents) {
      const [certPem = '', keyPem = ''] = contents.map((pem) => pem.toString('latin1'));
      const next = { certPem, keyPem };
      if (next.certPem === inUse?.certPem && next.keyPem === inUse.keyPem) return undefined;
      checkCertificate(cert, key, next, clock.now());
      renew(next);
      inUse = next;
      return renewed;
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

/** The page for a person who opens the receiver's address in a browser. The empty icon spares a second request. */
const browserPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>leads listen</title>
<link rel="icon" href="data:,">
<h1>This is a receiver of leads</h1>
<p>It takes <code>POST</code> requests with a lead in JSON, from the service that knows its token or secret.</p>
<p>There is nothing to see in a browser: the terminal that runs <code>leads listen</code> shows what arrives.</p>
</html>
`;
