export interface TestCase {
  /** A dotted group such as `leads.check.body`, like a package and class of Java. */
  readonly className: string;
  readonly name: string;
  readonly ms: number;
  readonly outcome:
    | { readonly kind: 'passed' }
    | { readonly kind: 'skipped'; readonly message: string }
    /** `text` may have several lines; some readers show only it, and others only the message. */
    | { readonly kind: 'failed'; readonly type: string; readonly message: string; readonly text: string };
}

export interface TestSuite {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ms: number;
  readonly cases: readonly TestCase[];
}

/**
 * Returns a JUnit file as Jenkins' xUnit plugin checks it (junit-10.xsd), and as GitLab and GitHub's
 * reporters read it: `testsuites` with one `testsuite`. Characters that XML forbids, and controls that break
 * its readers, become U+FFFD.
 */
export function junitDocument({ name, startedAt, ms, cases }: TestSuite): string {
  const count = (kind: TestCase['outcome']['kind']): string =>
    String(cases.filter(({ outcome }) => outcome.kind === kind).length);
  const totals = {
    name,
    tests: String(cases.length),
    failures: count('failed'),
    errors: '0',
    time: seconds(ms),
  };
  const timestamp = new Date(startedAt).toISOString().replace(/\.\d+Z$/, '');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes(totals)}>`,
    `  <testsuite${attributes({ ...totals, skipped: count('skipped'), timestamp })}>`,
    ...cases.map(caseElement),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseElement({ className, name, ms, outcome }: TestCase): string {
  const start = `    <testcase${attributes({ classname: className, name, time: seconds(ms) })}`;
  if (outcome.kind === 'passed') return `${start}/>`;
  const { message } = outcome;
  const content =
    outcome.kind === 'skipped'
      ? `<skipped${attributes({ message })}/>`
      : `<failure${attributes({ type: outcome.type, message })}>${escapeXml(outcome.text)}</failure>`;
  return `${start}>\n      ${content}\n    </testcase>`;
}

const seconds = (ms: number): string => (Math.max(0, ms) / 1000).toFixed(3);

const attributes = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    // XML readers turn a plain line break in an attribute into a space.
    .map(([name, value]) => ` ${name}="${escapeXml(value).replaceAll('\n', '&#10;')}"`)
    .join('');

/** Characters that XML 1.0, section 2.2, forbids, and the controls C1 and DEL, which break some readers. */
const unusable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]|[\ud800-\udfff]/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
};

const escapeXml = (text: string): string =>
  text.replace(unusable, '\ufffd').replace(/[&<>"'\r]/g, (character) => entities[character] ?? '');
