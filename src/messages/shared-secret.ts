import type { WebhookProblem } from '../webhook/problems.ts';
import type { Message, Messages } from './message.ts';

const encodingNames = {
  utf8: 'text',
  hex: 'hex',
  base64: 'base64',
  whsec: "base64 after 'whsec_'",
} as const;

export const onlySentence = (message: string, hint?: string) => (): Message => ({
  message,
  hint: hint === undefined ? undefined : () => hint,
});

type SecretProblem = Extract<
  WebhookProblem,
  { kind: `${string}-secret` | `secret-${string}` | `${string}-token` }
>;

/** What is wrong with a secret that both sides have. */
export const secretMessages: Messages<SecretProblem> = {
  'empty-secret': () => 'the webhook secret is empty',
  'secret-of-key-pair': () =>
    'the webhook secret is a key of a pair, and this scheme signs with a shared secret',
  'secret-not-encoded': ({ encoding }) => ({
    message: `the webhook secret is not ${encodingNames[encoding]}`,
    hint: () =>
      encoding === 'whsec' ? 'copy the whole secret, from whsec_ to its end' : 'see secretEncoding',
  }),
  'empty-token': () => 'the webhook token is empty',
  'unsendable-token': onlySentence(
    'the webhook token has blanks at its ends or control characters in it',
    'a header cannot carry it; check the file or variable that it comes from',
  ),
};
