import { ConfigError } from '../../errors.ts';
import { fieldName } from '../field-name.ts';
import { type Rejected, rejected } from '../scheme.ts';
import { serializeItem } from './serialize-fields.ts';
import type { SignatureInput } from './signature-base.ts';

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

export const defaultCoverage = ['method', 'target', 'digest'] as const;

/** The components of a request that are not headers (RFC 9421, section 2.2). */
const derived = ['@method', '@target-uri', '@authority', '@scheme', '@request-target', '@path', '@query'];

/** Names of the components that a signature covers which covers what is required, and no more. */
export const requiredComponents = (required: readonly string[]): readonly string[] => [
  ...new Set(required.map((name) => requirementOf(name).missing)),
];

/**
 * Checks what signatures cover: `method`, `target`, `digest`, or names of components. Throws a `ConfigError` for a name
 * that is none, and without `digest`: anybody could change the lead.
 */
export function coverageCheck(
  required: readonly string[],
): (input: SignatureInput, hasQuery: boolean) => Rejected | undefined {
  if (!required.includes('digest')) {
    throw new ConfigError(
      'a signature that need not cover the digest of the body proves nothing about the lead',
      {
        hint: `add digest to --require ${required.join(',')}`,
      },
    );
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
    throw new ConfigError(
      `'${name}' is no component that the signature of a request can be required to cover`,
      {
        hint: `it may be one of ${derived.join(', ')}, or the name of a header`,
      },
    );
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
