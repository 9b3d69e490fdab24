import { expect, it } from 'vitest';
import type { CaptureLack, CaptureProblem } from '../../src/capture/problems.ts';
import { DataError } from '../../src/errors.ts';
import { describe as described } from '../../src/messages/command-line.ts';
import { problemSentence } from '../../src/messages/find-message.ts';

const forms =
  "give a HAR file, the output of 'curl -v', a curl command, a raw HTTP/1.1 request, a line of 'leads listen --json', or --body FILE with --header 'Name: value'";

it.each<[CaptureProblem, string, string | undefined]>([
  [{ kind: 'capture-empty' }, 'the capture cannot be read: it is empty', forms],
  [{ kind: 'capture-of-no-form' }, 'the capture cannot be read: it has none of the known forms', forms],
  [
    { kind: 'capture-of-curl-trace' },
    "the capture cannot be read: 'curl --trace' breaks the bytes over many lines: use 'curl -v', and name the body with --body FILE",
    forms,
  ],
  [
    { kind: 'captured-line-no-header', line: 2 },
    'the capture cannot be read: line 2 of the request is no header',
    forms,
  ],
  [
    { kind: 'har-entry-without-request', entry: 1 },
    'the capture cannot be read: entry 1 of the HAR has no method or no URL',
    forms,
  ],
  [{ kind: 'no-such-request', entry: 3, of: 'har', count: 2 }, '--entry 3: the HAR holds 2', undefined],
  [
    {
      kind: 'several-requests',
      of: 'curl-output',
      first: [
        { entry: 1, place: '/a' },
        { entry: 3, place: '/b' },
      ],
      hasMore: true,
    },
    'the output of curl -v holds several requests that may be meant: 1 (/a), 3 (/b), …',
    'choose one with --entry N',
  ],
])('says why %j is no capture', (problem, message, hint) => {
  expect(described(new DataError(problem))).toEqual({ message, hint });
});

it.each<[CaptureLack, string]>([
  [
    { kind: 'body-in-variable' },
    'a part of the body comes from a variable or another command: give the body with --body FILE',
  ],
  [
    { kind: 'body-without-line-breaks', path: undefined },
    '-d sends stdin without its line breaks; --data-binary keeps them',
  ],
  [
    { kind: 'curl-output-without-body' },
    "'curl -v' prints no body: put the curl command before its output, or give --body FILE",
  ],
  [
    { kind: 'event-of-several-leads', leads: 2 },
    "the delivery held 2 leads, and an event holds one of them: give the body with --body FILE, or read it from the inbox with 'leads verify --id'",
  ],
  [
    { kind: 'event-without-white-space' },
    "an event holds the lead without its white space, not the body as it came: 'leads verify --id' reads that from the inbox",
  ],
  [
    { kind: 'event-without-headers' },
    "an event holds no headers: give those of the credential with --header 'Name: value'",
  ],
  [
    { kind: 'har-without-body', stored: '3f2a.json' },
    'the HAR keeps the body in another file, 3f2a.json: give it with --body FILE',
  ],
  [
    { kind: 'har-body-not-utf8' },
    'the HAR holds the body as text, and some of its bytes were not UTF-8: they are lost',
  ],
  [
    { kind: 'har-body-of-other-size', said: 9, held: 2 },
    'the HAR says that the body had 9 bytes, and its text has 2: it does not hold the exact bytes',
  ],
  [
    { kind: 'lines-end-in-lf' },
    'the lines of the request end in LF alone: those of its body may have ended in CR LF',
  ],
  [{ kind: 'body-not-chunked' }, 'the body is said to be chunked and is not: it is taken as it is'],
])('says what %j lacks', (lack, sentence) => {
  expect(problemSentence(lack)).toBe(sentence);
});
