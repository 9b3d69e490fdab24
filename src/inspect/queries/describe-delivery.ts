import { isUtf8 } from 'node:buffer';
import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { redacted } from '../../inbox/store-options.ts';
import { maxRejectedBody } from '../../inbox/store-options.ts';
import { utf8, bufferOf } from '../../json/bytes.ts';
import { curlCommand } from '../../output/curl-command.ts';
import { storedDelivery } from '../../receiver/stored-request.ts';
import { endToEndHeaders } from '../../receiver/targets/forward.ts';
import { Secret } from '../../secret.ts';
import { headerValues } from '../../webhook/delivery.ts';
import type { RejectReason } from '../../webhook/delivery-answer.ts';
import type { WireDelivery, WireRow } from '../wire.ts';
import { rowOf, rowsOf } from './list-page.ts';
import { JsonIndenter } from '../../json/indent-json.ts';
import { readDocument } from '../../json/document.ts';

const mostLeadDeliveries = 100;

export async function describeDelivery(
  inbox: Pick<InboxReader, 'list' | 'forwards'>,
  seq: number,
): Promise<WireDelivery | undefined> {
  const delivery = await storedDelivery(inbox, seq);
  if (delivery === undefined) return undefined;
  const { body, leadId, results, remote, method, path, headers, firstSeq, differs } = delivery;
  const forwards = leadId === undefined ? [] : ((await inbox.forwards([leadId])).get(leadId) ?? []);
  const text = utf8(body);
  const isHex = !isUtf8(body) || text.includes('\0');
  return {
    ...rowOf(delivery, forwards),
    ...{ remote, method, path, headers, isHex },
    raw: isHex ? hexDump(body) : text,
    curl: curlOf(delivery),
    missing: missingPart(delivery),
    formatted: formatJson(body) ?? null,
    firstSeq: firstSeq ?? null,
    differs: differs ?? null,
    explanation: explain(delivery),
    results: results.map(({ address = null, ...result }) => ({ ...result, address })),
    forwards: forwards.map(({ dueAt = null, ...forward }) => ({ ...forward, dueAt })),
    leadDeliveries: leadId === undefined ? [] : await deliveriesOfLead(inbox, leadId),
    notReplayable: whyNotReplayable(delivery) ?? null,
  };
}

async function deliveriesOfLead(
  inbox: Pick<InboxReader, 'list' | 'forwards'>,
  leadId: string,
): Promise<readonly WireRow[]> {
  const deliveries: StoredDelivery[] = [];
  for await (const delivery of inbox.list({ leadId })) {
    if (deliveries.push(delivery) === mostLeadDeliveries) break;
  }
  return rowsOf(inbox, deliveries.reverse());
}

/** A delivery that was rejected for one of these was answered before its body was read to the end. */
const unreadReasons: readonly string[] = [
  'too_large',
  'too_slow',
  'incomplete_body',
] satisfies RejectReason[];

function missingPart({ verdict, reason, headers, body }: StoredDelivery): string | null {
  const isWithoutLead = verdict === 'rejected' || verdict === 'other';
  if (verdict === 'rejected' && body.length === 0) {
    const request = { rawHeaders: headers };
    const isAnnounced =
      headerValues(request, 'transfer-encoding').length > 0 ||
      headerValues(request, 'content-length').some((length) => Number(length) !== 0);
    return isAnnounced || unreadReasons.includes(reason ?? '')
      ? 'It was rejected before its body was read.'
      : null;
  }
  if (!isWithoutLead || body.length < maxRejectedBody) return null;
  return `Only the first ${maxRejectedBody / 1024} KiB of a body without a lead that was taken are kept.`;
}

const compareClocks =
  "Compare the clocks of both machines; the scheme's tolerance says how far they may be apart.";

/** These reasons are for the receiver's operator to mend; the detail of any other one says enough. */
const advice: Readonly<Partial<Record<RejectReason, string>>> = {
  foreign_host: 'A page in a browser may have sent it; a tunnel must send the host localhost.',
  wrong_verify_token: "Compare what was typed in at the vendor with verifyToken of the receiver's scheme.",
  wrong_path: 'The receiver takes deliveries at the path of --path only.',
  missing_credential:
    'Check that the sender signs its deliveries, and that the receiver runs with its scheme.',
  malformed_credential: 'Check that both sides use the same scheme.',
  wrong_credential:
    "The inbox keeps no credentials, so nothing here shows what was sent; 'leads listen --explain' prints what the next one matches.",
  malformed_timestamp: "Check timestampFormat of the receiver's scheme.",
  stale_timestamp: compareClocks,
  future_timestamp: compareClocks,
  replayed_nonce: 'A retry brings the same body; another body under a used nonce may be an attack.',
};

function explain({ verdict, reason, detail }: StoredDelivery): readonly string[] {
  if (verdict === 'other') {
    return ['Another event of the sender, and no lead: it is kept here and forwarded to no target.'];
  }
  if (verdict !== 'rejected') return [];
  const cause = detail ?? reason ?? 'no reason was kept';
  const hint = advice[reason as RejectReason];
  return [`${cause.charAt(0).toUpperCase()}${cause.slice(1)}.`, ...(hint === undefined ? [] : [hint])];
}

export function whyNotReplayable({
  verdict,
  leadId,
}: Pick<StoredDelivery, 'verdict' | 'leadId'>): string | undefined {
  if (verdict === 'rejected') return 'A rejected delivery is never replayed: nobody knows who sent it.';
  return leadId === undefined ? 'The delivery holds no lead.' : undefined;
}

/** A command that sends a delivery again, with `$CREDENTIAL` in place of each credential, since none is stored. */
function curlOf(delivery: StoredDelivery): string {
  const { method, headers, body } = delivery;
  return curlCommand({
    // A request that could not be parsed has no method.
    method: method === '' ? 'POST' : method,
    url: addressOf(delivery),
    headers: endToEndHeaders({ rawHeaders: headers }),
    body,
    // In stored headers this text stands for a credential.
    secrets: [{ secret: new Secret(redacted), variable: 'CREDENTIAL' }],
  });
}

const placeholder = 'https://receiver.example';

/**
 * The sender chooses the `Host` header. That of a delivery that was not taken is not used: it may be an attacker's host, to which
 * a person would send credentials. Only a proxy says whether the delivery used TLS; without one, `https` is the receiver's default.
 */
function addressOf({ verdict, path, headers }: StoredDelivery): string {
  const localPath = path.startsWith('/') ? path : '/';
  const header = (name: string): string => headerValues({ rawHeaders: headers }, name).join().toLowerCase();
  const host = header('host');
  // A host and a port only: any other text, such as `user@host`, could lead elsewhere.
  const isHost = /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/.test(host);
  if (!isHost || verdict === 'rejected' || verdict === 'other') return `${placeholder}${localPath}`;
  const scheme =
    /^\s*(https?)\b/.exec(header('x-forwarded-proto')) ?? /\bproto="?(https?)\b/.exec(header('forwarded'));
  return `${scheme?.[1] ?? 'https'}://${host}${localPath}`;
}

const lineBytes = 16;

function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += lineBytes) {
    const line = bufferOf(bytes.subarray(offset, offset + lineBytes));
    const pairs = line.toString('hex').replace(/..(?=.)/g, '$& ');
    const text = line.toString('latin1').replace(/[^ -~]/g, '.');
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${pairs.padEnd(3 * lineBytes)} |${text}|`);
  }
  return lines.join('\n');
}

/** The indentation of deep JSON grows with the square of its depth. */
const mostCharacters = 4 * 1024 * 1024;

const pieceLength = 64;

/** Keeps every token, so that no digit of a number is lost. Undefined for what is not JSON, and for a result beyond the limit. */
function formatJson(bytes: Uint8Array): string | undefined {
  const document = readDocument(bytes);
  if (!document.ok) return undefined;
  const text = document.json.toString('utf8', document.start, document.end);
  const indenter = new JsonIndenter();
  let formatted = '';
  for (let offset = 0; offset < text.length; offset += pieceLength) {
    formatted += indenter.indent(text.slice(offset, offset + pieceLength));
    if (formatted.length > mostCharacters) return undefined;
  }
  return formatted;
}
