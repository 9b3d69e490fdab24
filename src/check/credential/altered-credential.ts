import { expectRefused } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import type { CheckSession } from '../session.ts';
import {
  alterCredential,
  credentialHeader,
  credentialTexts,
  noCredential,
  signs,
} from './credential-text.ts';

/** How the token is changed, and the shell expression for it: a token without its last character is almost the token. */
interface Alteration {
  readonly alter: (text: string, session: CheckSession) => string;
  readonly shell: string;
}

function alteredCredential(
  name: string,
  { alter, shell }: Alteration,
  texts: Pick<Probe, 'expected' | 'hint'> & Partial<Pick<Probe, 'inapplicable'>>,
): Probe {
  return {
    inapplicable: noCredential,
    ...texts,
    name: `credential.${name}`,
    rule: '4.2 rule 3',
    level: 'must',
    isHarmless: true,
    expectsRefusal: true,
    async run(session) {
      const request = session.deliveryOf(session.newLead());
      const headers = alterCredential(session, request.headers, (text) => alter(text, session));
      const shellValues = signs(session) ? undefined : { [credentialHeader(session)]: shell };
      const altered = { ...request, headers, withheld: request.headers, shellValues };
      return expectRefused(await session.send(altered), 'warn');
    },
  };
}

export const truncatedCredential = alteredCredential(
  'truncated',
  // Four characters of a signature: the last alone may hold no more than padding.
  {
    alter: (text, session) => text.slice(0, signs(session) ? -4 : -1),
    shell: '${LEADS_WEBHOOK_TOKEN%?}',
  },
  {
    expected: '4xx to a credential without its end',
    hint: 'compare the whole credential, not only as much as was sent',
    inapplicable: (session) => noCredential(session) ?? tooShort(session),
  },
);

export const longerCredential = alteredCredential(
  'longer',
  { alter: (text) => `${text}-x`, shell: '${LEADS_WEBHOOK_TOKEN}-x' },
  {
    expected: '4xx to a credential with more behind it',
    hint: 'compare the whole credential, and decode it strictly: lenient decoders drop what they cannot read',
  },
);

export const caseChangedCredential = alteredCredential(
  'case',
  { alter: swapCase, shell: `$(printf %s "$LEADS_WEBHOOK_TOKEN" | tr 'a-zA-Z' 'A-Za-z')` },
  {
    expected: '4xx to a credential in other letter case',
    hint: 'compare the bytes of the credential: another letter case is another credential',
    inapplicable: (session) => noCredential(session) ?? caseless(session),
  },
);

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

function tooShort(session: CheckSession): string | undefined {
  const [text = ''] = ownCredential(session);
  return text.length < 2 ? 'the token has one character' : undefined;
}

function caseless(session: CheckSession): string | undefined {
  const texts = ownCredential(session);
  if (!texts.some((text) => /[a-z]/i.test(text))) return 'the token has no letters';
  const isHex = signs(session) && texts.every((text) => /^[0-9a-f]+$/i.test(text));
  return isHex ? 'the signature is hex, which means the same in either case' : undefined;
}

const ownCredential = (session: CheckSession): string[] =>
  credentialTexts(session, session.credential(Buffer.from('{}'), 'msg_leads-check'));
