import { expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { forApplication } from '../../src/messages/application.ts';
import { messageFor } from '../../src/messages/find-message.ts';
import { describe as described } from '../../src/messages/command-line.ts';
import type { SandboxProblem } from '../../src/sandbox/problems.ts';

it.each<[SandboxProblem, string, string | undefined]>([
  [
    { kind: 'unknown-fault', name: 'fire', known: ['drop', 'delay'] },
    "there is no fault 'fire'",
    'one of drop, delay',
  ],
  [
    { kind: 'fault-without-share', name: 'drop', share: '5x' },
    'the fault drop=5x is not a share such as 5%, or 5%:200ms',
    undefined,
  ],
  [
    { kind: 'fault-not-of-scheme', scheme: 'token', fault: 'reusedNonce' },
    "the scheme 'token' cannot show the fault reusedNonce",
    'it does not sign what that fault forges; use another --scheme, or leave the fault out',
  ],
  [
    { kind: 'not-servable', number: 3, why: "there is no 'id'" },
    "lead 3 cannot be served: there is no 'id'",
    undefined,
  ],
])('says on the command line what %j is', (problem, message, hint) => {
  expect(described(new ConfigError(problem))).toEqual({ message, hint });
});

it('names options in an application', () => {
  const error = new ConfigError({
    kind: 'fault-not-of-scheme',
    scheme: 'token',
    fault: 'drop',
  });
  expect(forApplication(error, messageFor)).toMatchObject({
    message: "the scheme 'token' cannot show the fault drop",
    hint: 'it does not sign what that fault forges; use another scheme, or leave the fault out',
  });
});
