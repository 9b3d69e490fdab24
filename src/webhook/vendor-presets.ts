import type { Handshake } from './scheme.ts';
import type { TemplateSchemeOptions } from './schemes/template-scheme.ts';

type HeaderNames = Pick<TemplateSchemeOptions, 'signatureHeader' | 'timestampHeader' | 'nonceHeader'>;

export interface Preset extends Omit<TemplateSchemeOptions, 'toleranceMs'> {
  /** In milliseconds, where the vendor names another limit than five minutes. */
  readonly toleranceMs?: number;
  readonly otherNames?: readonly HeaderNames[];
}

const namesWith = (brand: string): HeaderNames => ({
  signatureHeader: `${brand}-signature`,
  timestampHeader: `${brand}-timestamp`,
  nonceHeader: `${brand}-id`,
});

/**
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md; with a public key
 * after `whpk_`, the Ed25519 signature `v1a,…` is checked instead. Signatures of other versions are ignored.
 */
const standardWebhooks: Omit<Preset, 'name'> = {
  ...namesWith('webhook'),
  encoding: 'base64',
  prefix: 'v1,',
  separator: ' ',
  ed25519Prefix: 'v1a,',
  content: '{id}.{timestamp}.{body}',
  secretEncoding: 'whsec',
  // Any visible character but a full stop: with one, id and time could be divided in another way under the same signature.
  noncePattern: /^[!-\-/-~]+$/,
};

/** A vendor that uses Standard Webhooks under its own brand may send its own headers or the unbranded ones. */
export const branded = <P extends Omit<Preset, 'name'>>(preset: P, brand: string): P => ({
  ...preset,
  ...namesWith(brand),
  otherNames: [namesWith('webhook')],
});

/** The signature header holds the time too, as Stripe's does: `t=1700000000,v1=…`. */
const timeInHeader = { timestampPrefix: 't=', prefix: 'v1=', separator: ',', content: '{timestamp}.{body}' };

type PresetOptions = Partial<Omit<Preset, 'name' | 'signatureHeader' | 'content'>>;

const overBody = (signatureHeader: string, options: PresetOptions): Omit<Preset, 'name'> => ({
  ...options,
  signatureHeader,
  content: '{body}',
});

const timeBeside = (
  signatureHeader: string,
  timestampHeader: string,
  content: string,
  options: PresetOptions,
): Omit<Preset, 'name'> => ({ ...options, signatureHeader, timestampHeader, content });

/**
 * Vendors with many users come first, then the names in order. This is data only, which help reads without any
 * code. The vendors say what they sign at:
 *
 * - svix: https://docs.svix.com/receiving/verifying-payloads/how-manual
 * - stripe: https://docs.stripe.com/webhooks/signature. The key is the text of the secret, with its `whsec_`;
 *   signatures of other versions are ignored.
 * - github: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries. The older SHA-1 header
 *   is ignored.
 * - slack: https://docs.slack.dev/authentication/verifying-requests-from-slack
 * - shopify: https://shopify.dev/docs/apps/build/webhooks/subscribe/https
 * - calendly: https://developer.calendly.com/api-docs/ZG9jOjM2MzE2MDM4-webhook-signatures. Its example tolerates three
 *   minutes.
 * - discord: https://docs.discord.com/developers/interactions/overview#validating-security-request-headers
 * - hubspot: version 3 of
 *   https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation
 * - intercom: https://developers.intercom.com/docs/webhooks/setting-up-webhooks#signed-notifications
 * - linear: https://linear.app/developers/webhooks#securing-webhooks. Its time is a member of the body, and is not
 *   checked.
 * - meta: https://developers.facebook.com/docs/graph-api/webhooks/getting-started, "Validate payloads"
 * - mux: https://www.mux.com/docs/core/verify-webhook-signatures
 * - paddle: https://developer.paddle.com/webhooks/signature-verification
 * - sendgrid:
 *   https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
 * - square: https://developer.squareup.com/docs/webhooks/step3validate. The URL is the notification URL as Square
 *   knows it.
 * - twitch: https://dev.twitch.tv/docs/eventsub/handling-webhook-events/, "Verifying the event message"
 * - typeform: https://www.typeform.com/developers/webhooks/secure-your-webhooks/
 * - workos: https://workos.com/docs/events/data-syncing/webhooks. Its libraries tolerate three minutes.
 * - zendesk: https://developer.zendesk.com/documentation/webhooks/verifying/
 */
const vendors = {
  'standard-webhooks': standardWebhooks,
  svix: branded(standardWebhooks, 'svix'),
  stripe: { signatureHeader: 'stripe-signature', ...timeInHeader },
  github: overBody('x-hub-signature-256', { prefix: 'sha256=' }),
  slack: timeBeside('x-slack-signature', 'x-slack-request-timestamp', 'v0:{timestamp}:{body}', {
    prefix: 'v0=',
  }),
  shopify: overBody('x-shopify-hmac-sha256', { encoding: 'base64' }),
  calendly: { signatureHeader: 'calendly-webhook-signature', ...timeInHeader, toleranceMs: 180_000 },
  discord: timeBeside('x-signature-ed25519', 'x-signature-timestamp', '{timestamp}{body}', {
    algorithm: 'ed25519',
  }),
  hubspot: timeBeside(
    'x-hubspot-signature-v3',
    'x-hubspot-request-timestamp',
    '{method}{decodedUrl}{body}{timestamp}',
    { encoding: 'base64', timestampFormat: 'milliseconds' },
  ),
  intercom: overBody('x-hub-signature', { algorithm: 'hmac-sha1', prefix: 'sha1=' }),
  linear: overBody('linear-signature', {}),
  meta: overBody('x-hub-signature-256', { prefix: 'sha256=' }),
  mux: { signatureHeader: 'mux-signature', ...timeInHeader },
  paddle: {
    signatureHeader: 'paddle-signature',
    timestampPrefix: 'ts=',
    prefix: 'h1=',
    separator: ';',
    content: '{timestamp}:{body}',
  },
  sendgrid: timeBeside(
    'x-twilio-email-event-webhook-signature',
    'x-twilio-email-event-webhook-timestamp',
    '{timestamp}{body}',
    { algorithm: 'ecdsa-p256-sha256-der', encoding: 'base64' },
  ),
  square: { signatureHeader: 'x-square-hmacsha256-signature', encoding: 'base64', content: '{url}{body}' },
  twitch: timeBeside(
    'twitch-eventsub-message-signature',
    'twitch-eventsub-message-timestamp',
    '{id}{timestamp}{body}',
    {
      prefix: 'sha256=',
      timestampFormat: 'iso',
      nonceHeader: 'twitch-eventsub-message-id',
      toleranceMs: 600_000,
    },
  ),
  typeform: overBody('typeform-signature', { encoding: 'base64', prefix: 'sha256=' }),
  workos: {
    signatureHeader: 'workos-signature',
    ...timeInHeader,
    separator: ', ',
    timestampFormat: 'milliseconds',
    toleranceMs: 180_000,
  },
  zendesk: {
    signatureHeader: 'x-zendesk-webhook-signature',
    encoding: 'base64',
    content: '{timestamp}{body}',
    timestampHeader: 'x-zendesk-webhook-signature-timestamp',
    timestampFormat: 'iso',
  },
} satisfies Readonly<Record<string, Omit<Preset, 'name'>>>;

/**
 * The requests by which a vendor makes sure, at the registration of an address, that it wants its deliveries:
 *
 * - slack: https://api.slack.com/events/url_verification
 * - discord: it pings the address of interactions with type 1, and that of webhook events with type 0
 *   (https://docs.discord.com/developers/events/webhook-events), whose events have type 1 and a member `event`.
 * - intercom: a HEAD tries the address.
 * - meta: "Verification requests" at the page above. twitch: "Responding to a challenge request" there.
 */
export const handshakes: Readonly<Partial<Record<string, readonly Handshake[]>>> = {
  slack: [{ fields: { type: 'url_verification' }, echo: 'challenge' }],
  discord: [
    { fields: { type: 1, event: undefined }, answer: { status: 200, body: { type: 1 } } },
    { fields: { type: 0 }, answer: { status: 204, body: {} } },
  ],
  intercom: [{ method: 'HEAD' }],
  meta: [
    {
      method: 'GET',
      fields: { 'hub.mode': 'subscribe' },
      verifyToken: 'hub.verify_token',
      echo: 'hub.challenge',
    },
  ],
  twitch: [{ header: ['twitch-eventsub-message-type', 'webhook_callback_verification'], echo: 'challenge' }],
} satisfies Partial<Record<PresetName, readonly Handshake[]>>;

export type PresetName = keyof typeof vendors;

/** The secret that the operator gives for each vendor, in the words of the help. */
export const vendorSecrets: Readonly<Record<PresetName, string>> = {
  'standard-webhooks': 'whsec_ and base64, or an Ed25519 key after whpk_',
  svix: 'whsec_ and base64',
  stripe: "the endpoint's whole secret, whsec_ included",
  github: "the webhook's secret",
  slack: "the app's signing secret",
  shopify: "the app's client secret",
  calendly: "the subscription's signing key",
  discord: "the application's public key, in hex",
  hubspot: "the app's client secret",
  intercom: "the app's client secret",
  linear: "the webhook's signing secret",
  meta: 'the app secret',
  mux: "the webhook's signing secret",
  paddle: "the notification destination's secret key",
  sendgrid: 'the public key, in base64',
  square: "the subscription's signature key",
  twitch: "the subscription's secret",
  typeform: "the webhook's secret",
  workos: "the endpoint's secret",
  zendesk: "the webhook's signing secret",
};

export const presets: readonly (Preset & { readonly name: PresetName })[] = Object.entries(vendors).map(
  ([name, preset]) => ({ name: name as PresetName, ...preset }),
);

export const schemeNames: readonly string[] = ['token', ...presets.map(({ name }) => name), 'custom'];
