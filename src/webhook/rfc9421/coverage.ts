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
  const all = required.map((name) => requirements[name] ?? componentRequired(name));
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

function componentRequired(name: string): Requirement {
  const component = name.startsWith('@') ? name : fieldName(name);
  return { missing: component, isMet: (covered) => covered.has(component) };
}

/**
 * Names of the components that are covered whole; undefined when one is covered twice. A header is covered whole in each
 * of its forms, a single parameter of the query is not the query.
 */
function coveredComponents({ items }: SignatureInput): ReadonlySet<string> | undefined {
  if (new Set(items.map(serializeItem)).size < items.length) return undefined;
  return new Set(
    items.flatMap(({ bare }) =>
      bare.kind === 'string' && bare.value !== '@query-param' ? [bare.value] : [],
    ),
  );
}
