import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/secret.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { leads } from '../../support/run.ts';
import { outgoing } from '../../webhook/delivery.ts';
import { fileOf, secret, verify } from './support.ts';

const at = Date.UTC(2026, 0, 15, 12);
const scheme = schemeNamed('rfc9421');
const message = outgoing();
const headers = scheme.sign(message, scheme.key(new Secret(secret)), at);
const who = ['--scheme', 'rfc9421', '--secret', secret, '--at', new Date(at).toISOString()];
const capture = [
  ...['--body', fileOf(message.body), '--url', message.url],
  ...headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
];

describe('verify of a message signature', () => {
  it('shows the base that was signed', async () => {
    const { exitCode, document } = await verify([...capture, ...who, '--show-base']);
    expect(exitCode).toBe(0);
    const lines = document.base?.split('\n') ?? [];
    expect(lines.slice(0, 2)).toEqual(['"@method": POST', `"@target-uri": ${message.url}`]);
    const { stdout } = await leads(['verify', ...capture, ...who, '--show-base']);
    expect(stdout).toContain(`signature base:\n  ${lines.join('\n  ')}\ngenuine\n`);
  });

  it('names the first component that differs from the base of the sender', async () => {
    const { document } = await verify([...capture, ...who, '--show-base']);
    const same = await verify([...capture, ...who, '--their-base', fileOf(document.base ?? '')]);
    expect(same.document.checks.at(-1)).toMatchObject({ name: 'base', ok: true });
    expect(same.document.base).toBeUndefined();
    const theirs = fileOf((document.base ?? '').replace('https://', 'http://'));
    const other = await verify([...capture, ...who, '--their-base', theirs]);
    expect(other.document.checks.at(-1)).toMatchObject({ name: 'base', ok: false });
    expect(other.document.checks.at(-1)?.detail).toContain('the component "@target-uri" is');
  });

  it('hides the secret where a covered header holds it', async () => {
    const params = '("authorization");created=1768478400';
    const own = [
      ...['--header', `authorization: Bearer ${secret}`],
      ...[
        '--header',
        `signature-input: a=${params}`,
        '--header',
        'signature: a=:AAAA:',
        '--body',
        fileOf('{}'),
      ],
    ];
    const { stdout, document } = await verify([...own, ...who, '--show-base', '--their-base', fileOf('x')]);
    expect(document.base).toContain('"authorization": Bearer [redacted]');
    expect(stdout).not.toContain(secret);
  });

  it('says which component the request does not have', async () => {
    const own = [
      '--header',
      'signature-input: a=("x-no");created=1',
      '--header',
      'signature: a=:AAAA:',
      '--body',
      fileOf('{}'),
    ];
    const { document } = await verify([...own, ...who, '--show-base']);
    expect(document.checks.at(-1)?.detail).toContain('"x-no" is not in the request');
  });

  it.each([
    [
      'another URL in front',
      ['--url', 'https://10.0.0.1/leads?source=a%20b', '--header', 'x-forwarded-host: hooks.example.com'],
      '--public-url',
    ],
    [
      'the secret in base64',
      ['--scheme', '{"scheme":"rfc9421","secretEncoding":"base64"}'],
      `--scheme '{"scheme":"rfc9421","secretEncoding":"utf8"}'`,
    ],
    [
      'the body with a line break',
      ['--body', fileOf(Buffer.concat([message.body, Buffer.from('\n')]))],
      '--body-form no-line-break',
    ],
  ] as const)('is explained with a fix that verifies: %s', async (_, changed, fix) => {
    const run = await verify([...capture, ...who, ...changed]);
    expect(run.exitCode).toBe(7);
    expect(run.document.wouldMatch?.fix).toContain(fix);
    const words = (run.document.wouldMatch?.fix ?? '').replaceAll("'", '').split(' ');
    const fixed = await verify([...capture, ...who, ...changed, ...words]);
    expect(fixed.exitCode, fixed.stdout).toBe(0);
  });
});
