import { noCredential } from '../credential/credential-text.ts';
import type { Finding, Probe } from '../check-probe.ts';
import type { CheckSession, Exchange } from '../session.ts';
import { unsigned } from '../signature/tampered-body.ts';
import { secretTexts, signatureTexts } from '../sensitive-texts.ts';

const common = { rule: '4.2 rule 3', level: 'should', stage: 'last', isHarmless: true } as const;

export const leakedSecret: Probe = {
  ...common,
  name: 'leak.secret',
  expected: 'no answer holds the token or secret',
  hint: 'never put the token or secret into an answer: anyone who sends a request would learn it',
  inapplicable: noCredential,
  run: (session) => search(session, () => secretTexts(session)),
};

export const leakedSignature: Probe = {
  ...common,
  name: 'leak.signature',
  expected: 'no answer to a wrong signature holds the right one',
  hint: 'say that the signature does not match, and never show the right one: an attacker could send it',
  inapplicable: (session) =>
    unsigned(session) ??
    (session.signer.key?.material.type === 'secret' ? undefined : 'the receiver has no key that signs'),
  run: (session) => search(session, ({ request: { withheld = [] } }) => signatureTexts(session, withheld)),
};

function search(session: CheckSession, textsOf: (exchange: Exchange) => readonly string[]): Promise<Finding> {
  const found = session.exchanges.find((exchange) => {
    const said = everythingSaid(exchange);
    return textsOf(exchange).some((text) => said.includes(text));
  });
  return Promise.resolve(
    found === undefined
      ? { result: 'pass', seen: `none of ${session.exchanges.length} answers does` }
      : { result: 'fail', seen: 'an answer does', exchange: found },
  );
}

/** Head and body of an answer, one character a byte. */
export function everythingSaid({ answer }: Exchange): string {
  if (!answer.answered) return '';
  return [...answer.headers.map((header) => header.join(': ')), answer.body.toString('latin1')].join('\n');
}
