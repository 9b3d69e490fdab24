import type { SecretEncoding } from '../scheme-options.ts';
import { UsageError } from '../../errors.ts';
import { configError, type WebhookProblem } from '../problems.ts';
import { signatureOf } from '../crypto/signature.ts';
import { fieldName } from '../delivery.ts';
import type { Scheme } from '../scheme.ts';
import { type Rejected, rejected } from '../delivery-answer.ts';
import { algorithmsOf, authenticateMessage, parseMessageKey } from './authenticate-message.ts';
import { componentOf, contentDigest, signatureBase, type SignatureInput } from './signature-base.ts';
import { parseDictionary, serializeItem } from './structured-fields.ts';

/**
 * HTTP Message Signatures (RFC 9421) with the algorithm that the key determines. By default, the signature must cover the
 * method, the whole target and `content-digest`, which is computed again from the body; it must state when it was created.
 * `expires` and `nonce` are honoured. What it signs itself covers what is required and no more. Throws a `ConfigError` for
 * a coverage that would prove nothing about the lead; `sign` throws a `UsageError` for a header that it does not send.
 */
export function rfc9421(
  toleranceMs: number,
  secretEncoding: SecretEncoding,
  required: readonly string[] = defaultCoverage,
): Scheme {
  const rejectCoverage = coverageCheck(required);
  const components = requiredComponents(required);
  return {
    name: 'rfc9421',
    credentialHeaders: ['signature-input', 'signature'],
    toleranceMs,
    signsUrl: true,
    key: (secret) => parseMessageKey(secret, secretEncoding),
    authenticate: (delivery, keys) => authenticateMessage(delivery, keys, rejectCoverage),

    sign(message, key, now) {
      const created = Math.floor(now / 1000);
      const [algorithm = 'hmac-sha256'] = algorithmsOf(key);
      const params = `created=${created};keyid=${quoted(key.id ?? 'leads')};nonce=${quoted(message.id)};alg="${algorithm}"`;
      const member = `sig1=(${components.map(quoted).join(' ')});${params}`;
      const input = parseDictionary(member)?.get('sig1');
      if (input === undefined || !('items' in input)) {
        throw new TypeError(`a delivery id that no header can carry: ${message.id}`);
      }
      const { pathname, search, host } = new URL(message.url);
      const added = signedHeaders(message.body, components, now);
      const rawHeaders = [...added, ...headersOfDelivery(message.body, host)];
      const request = { ...message, path: pathname + search, rawHeaders };
      const base = signatureBase(input, (component) => componentOf(request, component));
      if (base === undefined) {
        const absent = input.items.filter((component) => componentOf(request, component) === undefined);
        const names = absent.map(({ bare }) => String(bare.value));
        throw new UsageError({ kind: 'component-not-sent', names } satisfies WebhookProblem);
      }
      const signature = signatureOf(algorithm, key, [base]).toString('base64');
      return [...added, ['signature-input', member], ['signature', `sig1=:${signature}:`]];
    },
  };
}

type Headers = readonly (readonly [name: string, value: string])[];

/** Those that are sent because the signature covers them. */
function signedHeaders(body: Uint8Array, components: readonly string[], now: number): Headers {
  const digest = ['content-digest', contentDigest(body)] as const;
  const isDated = components.includes('date');
  return isDated ? [digest, ['date', new Date(now).toUTCString()]] : [digest];
}

/** Those that every delivery has. */
const headersOfDelivery = ({ length }: Uint8Array, host: string): Headers => [
  ['host', host],
  ['content-type', 'application/json'],
  ['content-length', String(length)],
];

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** Whether a set of covered components is enough; `hasQuery`: the request's target has a query. */
interface Requirement {
  readonly missing: string;
  readonly isMet: (covered: ReadonlySet<string>, hasQuery: boolean) => boolean;
}

const requirements: Readonly<Record<string, Requirement>> = {
  method: { missing: '@method', isMet: (covered) => covered.has('@method') },
  target: {
    missing: '@target-uri',
    isMet: (covered, hasQuery) =>
      covered.has('@target-uri') ||
      (covered.has('@authority') &&
        (covered.has('@request-target') || (covered.has('@path') && (covered.has('@query') || !hasQuery)))),
  },
  digest: { missing: 'content-digest', isMet: (covered) => covered.has('content-digest') },
};

const defaultCoverage = ['method', 'target', 'digest'] as const;

/** The components of a request that are not headers (RFC 9421, section 2.2). */
const derived = ['@method', '@target-uri', '@authority', '@scheme', '@request-target', '@path', '@query'];

/** Names of the components that a signature covers which covers what is required, and no more. */
const requiredComponents = (required: readonly string[]): readonly string[] => [
  ...new Set(required.map((name) => requirementOf(name).missing)),
];

/**
 * Checks what signatures cover: `method`, `target`, `digest`, or names of components. Throws a `ConfigError` for a name
 * that is none, and without `digest`: anybody could change the lead.
 */
function coverageCheck(
  required: readonly string[],
): (input: SignatureInput, hasQuery: boolean) => Rejected | undefined {
  if (!required.includes('digest')) {
    throw configError({ kind: 'digest-not-required', require: required });
  }
  const all = required.map(requirementOf);
  return (input, hasQuery) => {
    const covered = coveredComponents(input);
    if (covered === undefined) {
      return rejected('malformed_credential', 'the signature covers a component twice');
    }
    const missing = all.filter(({ isMet }) => !isMet(covered, hasQuery)).map((one) => one.missing);
    return missing.length === 0
      ? undefined
      : rejected('malformed_credential', `the signature does not cover ${missing.join(' and ')}`);
  };
}

function requirementOf(name: string): Requirement {
  const known = requirements[name];
  if (known !== undefined) return known;
  if (name.startsWith('@') && !derived.includes(name)) {
    throw configError({ kind: 'unknown-component', name, known: derived });
  }
  const component = name.startsWith('@') ? name : fieldName(name);
  return { missing: component, isMet: (covered) => covered.has(component) };
}

/**
 * Names of the components that are covered; undefined when one is covered twice. A header is covered whole in each of its
 * forms. What is no text names no component: `componentOf` finds no value for it.
 */
function coveredComponents({ items }: SignatureInput): ReadonlySet<string> | undefined {
  if (new Set(items.map(serializeItem)).size < items.length) return undefined;
  return new Set(items.map(({ bare }) => String(bare.value)));
}
