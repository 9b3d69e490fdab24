import { github } from './signed-body/github.ts';
import { intercom } from './signed-body/intercom.ts';
import { linear } from './signed-body/linear.ts';
import { meta } from './signed-body/meta.ts';
import { shopify } from './signed-body/shopify.ts';
import { square } from './signed-body/square.ts';
import { typeform } from './signed-body/typeform.ts';
import { calendly } from './signed-time/calendly.ts';
import { discord } from './signed-time/discord.ts';
import { hubspot } from './signed-time/hubspot.ts';
import { mux } from './signed-time/mux.ts';
import { paddle } from './signed-time/paddle.ts';
import { sendgrid } from './signed-time/sendgrid.ts';
import { slack } from './signed-time/slack.ts';
import { standardWebhooks } from './signed-time/standard-webhooks.ts';
import { stripe } from './signed-time/stripe.ts';
import { svix } from './signed-time/svix.ts';
import { twitch } from './signed-time/twitch.ts';
import { workos } from './signed-time/workos.ts';
import { zendesk } from './signed-time/zendesk.ts';
import type { Preset } from './preset.ts';

/** Every vendor's scheme: those of many vendors first, then by name. Data only: help reads it without any code. */
export const presets: readonly Preset[] = [
  standardWebhooks,
  svix,
  stripe,
  github,
  slack,
  shopify,
  calendly,
  discord,
  hubspot,
  intercom,
  linear,
  meta,
  mux,
  paddle,
  sendgrid,
  square,
  twitch,
  typeform,
  workos,
  zendesk,
];
