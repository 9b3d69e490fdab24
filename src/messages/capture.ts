import type { CaptureForm, CaptureLack, CaptureProblem, SeveralRequests } from '../capture/problems.ts';
import type { Message, Messages } from './message.ts';

const forms =
  "a HAR file, the output of 'curl -v', a curl command, a raw HTTP/1.1 request, a line of 'leads listen --json', or --body FILE with --header 'Name: value'";

const unreadable = (what: string): Message => ({
  message: `the capture cannot be read: ${what}`,
  hint: () => `give ${forms}`,
});

const several: Readonly<Record<SeveralRequests, string>> = {
  har: 'the HAR',
  'curl-output': 'the output of curl -v',
  'listen-output': 'the output of listen',
};

/** Of the command line alone: a capture is no part of the library. */
export const captureMessages: Messages<CaptureProblem | CaptureForm | CaptureLack> = {
  'capture-empty': () => unreadable('it is empty'),
  'capture-of-no-form': () => unreadable('it has none of the known forms'),
  'capture-breaks-json': () => unreadable('it begins as JSON and is none'),
  'capture-of-other-json': () => unreadable('it is JSON, and neither a HAR nor an event of listen'),
  'capture-of-curl-trace': () =>
    unreadable(
      "'curl --trace' breaks the bytes over many lines: use 'curl -v', and name the body with --body FILE",
    ),
  'captured-headers-too-many': ({ count }) =>
    unreadable(`the request has ${count} headers, more than any server takes`),
  'captured-url-too-long': () => unreadable('its URL is longer than any server takes'),
  'captured-line-no-header': ({ line }) => unreadable(`line ${line} of the request is no header`),
  'curl-command-too-long': () => unreadable('it is longer than any command line'),
  'curl-command-without-url': () => unreadable('the curl command names no URL'),
  'curl-command-not-http': () => unreadable('the curl command calls no URL of HTTP'),
  'curl-not-a-command': () => unreadable('it names curl, and holds no command of curl'),
  'har-empty': () => unreadable('the HAR holds no request'),
  'har-entry-without-request': ({ entry }) => unreadable(`entry ${entry} of the HAR has no method or no URL`),
  'no-such-request': ({ entry, of, count }) => `--entry ${entry}: ${several[of]} holds ${count}`,
  'several-requests': ({ of, first, hasMore }) => {
    const shown = first.map(({ entry, place }) => `${entry} (${place})`).join(', ');
    return {
      message: `${several[of]} holds several requests that may be meant: ${shown}${hasMore ? ', …' : ''}`,
      hint: () => 'choose one with --entry N',
    };
  },
  'read-har': ({ entry, of }) => (of === 1 ? 'a HAR' : `a HAR, entry ${entry} of ${of}`),
  'read-curl-command': () => 'a curl command',
  'read-curl-output': ({ withCommand }) =>
    withCommand ? "a curl command and its output of '-v'" : "the output of 'curl -v'",
  'read-raw-http': () => 'a raw HTTP request',
  'read-listen-event': () => 'a line of the events of listen',
  'form-without-boundary': () =>
    'curl chooses the boundary of a form anew each time: give the body with --body FILE',
  'body-in-variable': () =>
    'a part of the body comes from a variable or another command: give the body with --body FILE',
  'body-from-stdin': () =>
    'the body was read from stdin, and the command does not hold it: give it with --body FILE',
  'body-without-line-breaks': ({ path = 'stdin' }) =>
    `-d sends ${path} without its line breaks; --data-binary keeps them`,
  'curl-output-without-body': () =>
    "'curl -v' prints no body: put the curl command before its output, or give --body FILE",
  'event-of-several-leads': ({ leads }) =>
    `the delivery held ${leads} leads, and an event holds one of them: give the body with --body FILE, or read it from the inbox with 'leads verify --id'`,
  'event-without-body': () => 'an event of a rejected delivery holds no body: give it with --body FILE',
  'event-without-white-space': () =>
    "an event holds the lead without its white space, not the body as it came: 'leads verify --id' reads that from the inbox",
  'event-without-headers': () =>
    "an event holds no headers: give those of the credential with --header 'Name: value'",
  'har-without-body': ({ stored }) =>
    `the HAR ${stored === undefined ? 'holds no body' : `keeps the body in another file, ${stored}`}: give it with --body FILE`,
  'har-body-not-utf8': () =>
    'the HAR holds the body as text, and some of its bytes were not UTF-8: they are lost',
  'har-body-of-other-size': ({ said, held }) =>
    `the HAR says that the body had ${said} bytes, and its text has ${held}: it does not hold the exact bytes`,
  'lines-end-in-lf': () =>
    'the lines of the request end in LF alone: those of its body may have ended in CR LF',
  'body-not-chunked': () => 'the body is said to be chunked and is not: it is taken as it is',
};
