import { expect, test } from 'vitest';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, outgoing } from '../delivery.ts';
import { keyOf } from './every.ts';

interface Vector {
  readonly from: string;
  readonly scheme: string;
  readonly secret: string;
  readonly body: string;
  /** Where the scheme signs it. */
  readonly url?: string;
  readonly headers: Headers;
  /** Seconds since the epoch. */
  readonly at: number;
}

const slackBody =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V' +
  '&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
  '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
  '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';

const vectors: readonly Vector[] = [
  {
    from: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    scheme: 'github',
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: [
      ['X-Hub-Signature-256', 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'],
    ],
    at: 0,
  },
  {
    from: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    scheme: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: slackBody,
    headers: [
      ['X-Slack-Request-Timestamp', '1531420618'],
      ['X-Slack-Signature', 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'],
    ],
    at: 1_531_420_618,
  },
  {
    from: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    scheme: 'svix',
    secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
    body: '{"event_type":"ping","data":{"success":true}}',
    headers: [
      ['svix-id', 'msg_loFOjxBNrRLzqYUf'],
      ['svix-timestamp', '1731705121'],
      ['svix-signature', 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0='],
    ],
    at: 1_731_705_121,
  },
  {
    from: 'https://github.com/standard-webhooks/standard-webhooks, libraries/javascript',
    scheme: 'standard-webhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: [
      ['webhook-id', 'msg_p5jXN8AQM9LWM0D4loKWxJek'],
      ['webhook-timestamp', '1614265330'],
      ['webhook-signature', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
    ],
    at: 1_614_265_330,
  },
  {
    from: 'https://github.com/PaddleHQ/paddle-node-sdk, tests of its validator',
    scheme: 'paddle',
    secret: 'VALID_SECRET',
    body: '{"data": ["1", "2"]}',
    headers: [
      [
        'Paddle-Signature',
        'ts=1698796800;h1=a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9',
      ],
    ],
    at: 1_698_796_800,
  },
  {
    from: 'https://github.com/square/square-nodejs-sdk, tests of its WebhooksHelper',
    scheme: 'square',
    secret: 'Ibxx_5AKakO-3qeNVR61Dw',
    body:
      '{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f",' +
      '"created_at":"2022-07-13T20:30:59.037339943Z","data":{"type":"webhooks","id":"bc368e64-01aa-407e-b46e-3231809b1129"}}',
    url: 'https://webhook.site/679a4f3a-dcfa-49ee-bac5-9d0edad886b9',
    headers: [['x-square-hmacsha256-signature', 'GF4YkrJgGBDZ9NIYbNXBnMzqb2HoL4RW/S6vkZ9/2N4=']],
    at: 0,
  },
  {
    from: 'https://github.com/sendgrid/sendgrid-nodejs, tests of its eventwebhook',
    scheme: 'sendgrid',
    secret:
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    body:
      '[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address",' +
      '"sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",' +
      '"sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0",' +
      '"smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n',
    headers: [
      ['X-Twilio-Email-Event-Webhook-Timestamp', '1600112502'],
      [
        'X-Twilio-Email-Event-Webhook-Signature',
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
      ],
    ],
    at: 1_600_112_502,
  },
];

test.each(vectors)('$scheme: the published example verifies, and no changed byte', (vector) => {
  const scheme = schemeNamed(vector.scheme);
  const keys = [keyOf(scheme, vector.secret)];
  const arrived = (body: string, headers = vector.headers) => {
    const message = outgoing(Buffer.from(body));
    return delivered(headers, { ...message, url: vector.url ?? message.url });
  };
  const now = vector.at * 1000;
  expect(verify(arrived(vector.body), scheme, keys, now)).toMatchObject({ ok: true, key: 0 });
  expect(verify(arrived(`${vector.body}\n`), scheme, keys, now)).toMatchObject({ ok: false });
  expect(verify(arrived(vector.body.replace('o', 'O').replace('t', 'T')), scheme, keys, now).ok).toBe(false);
  for (const [i, [name, value]] of vector.headers.entries()) {
    const last = value.at(-2) === '1' ? '2' : '1';
    const changed = vector.headers.with(i, [name, value.slice(0, -2) + last + value.slice(-1)]);
    expect(verify(arrived(vector.body, changed), scheme, keys, now).ok, name).toBe(false);
  }
});
