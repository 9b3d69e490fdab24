import { isUtf8 } from 'node:buffer';
import { DataError, KeyRejectedError, type LeadsError, ServiceError } from '../../errors.ts';
import { loginCommand, type Hint } from '../../front.ts';
import type { HttpAnswer } from '../../http/client/http-client.ts';
import { utf8 } from '../../json/bytes.ts';
import type { Json } from '../../json/exact.ts';
import { membersOf, type Member } from '../members.ts';
import { parseProblem, problemText } from './problem-text.ts';
import { passes, TransientError } from './network-failure.ts';
import { askedWaitMs } from './rate-limit.ts';
import type { Service } from './service.ts';

interface FailedResponse extends Pick<HttpAnswer, 'status' | 'headers'> {
  readonly url: URL;
  readonly redact: (text: string) => string;
}

const longestBody = 64 * 1024;

/** The failure that an error status means: a `TransientError` where another request may help. Reads `body` only. */
export async function errorAnswer(
  service: Service,
  response: FailedResponse,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  hint?: Hint,
): Promise<LeadsError | TransientError> {
  const bytes = await beginningOf(body, longestBody);
  const text = isUtf8(bytes) ? utf8(bytes) : bytes.toString('latin1');
  const problem = parseProblem(text);
  const reason = problemText(problem, response.redact);
  const kind = kindOfAnswer(response, reason, text);
  return failureOf(service, response, { kind, reason, body: problem, hint });
}

export async function beginningOf(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mostBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > mostBytes) break;
    }
  } catch {
    // The status counts.
  }
  return Buffer.concat(chunks);
}

/**
 * The failure that an answer without leads tells in its body although its status is a success; undefined where it tells
 * none. `body`: parsed, or its bytes, which may be anything. `first`: the answer that brought the first leads.
 */
export function failureInAnswer(
  service: Service,
  response: FailedResponse,
  body: Json | Uint8Array,
  first?: Json,
): LeadsError | TransientError | undefined {
  const { redact, url } = response;
  let parsed = body as Json;
  if (body instanceof Uint8Array) {
    const text = utf8(body);
    const reason = problemText(text, redact);
    if (isGatewayAnswer(response, text))
      return failureOf(service, response, { kind: 'gateway', reason, body: null });
    const json = parseProblem(text);
    parsed = typeof json === 'string' ? { message: json } : json;
  }
  const failure = failureIn(parsed, { isEmpty: true, first, asked: url, redact });
  if (failure === undefined) return undefined;
  const { kind, text: reason } = failure;
  return failureOf(service, response, { kind, reason, body: parsed });
}

interface FailureFacts {
  readonly kind: FailureKind;
  readonly reason: string | undefined;
  readonly body: Json;
  readonly hint?: Hint | undefined;
}

function failureOf(
  { account, clock }: Service,
  { status, headers, redact }: FailedResponse,
  { kind, reason, body, hint }: FailureFacts,
): LeadsError | TransientError {
  const details = { status, requestId: requestIdIn(headers, redact) };
  const suffix = reason === undefined ? '' : `: ${reason}`;
  if (kind === 'gateway')
    return new ServiceError(`something in front of the service refuses this machine (${status})${suffix}`, {
      hint: 'a gateway or a bot check answered: its operator can let the address of this machine through',
      ...details,
    });
  if (kind === 'key')
    return new KeyRejectedError(`the service refused the API key (${status})${suffix}`, {
      hint: (front) =>
        account.keyIsFromCommand === true
          ? `it is what api-key-command printed: ${front.quoted(front.get('api-key-command'))}`
          : front.otherKey(loginCommand(account.profile)),
      ...details,
    });
  const mayReset = kind === 'rate-limit' || status === 503;
  const { 'retry-after': retryAfter, date } = headers;
  const waitMs = mayReset
    ? askedWaitMs(headers, body, clock.now())
    : askedWaitMs({ 'retry-after': retryAfter, date }, undefined, clock.now());
  if (kind === 'rate-limit') {
    const message = `the service limits the rate (${status})${suffix}`;
    return new TransientError(new ServiceError(message, { kind: 'rate-limited', ...details }), waitMs);
  }
  const isPassing = kind === 'passing';
  const ErrorClass = isPassing || status >= 500 ? ServiceError : DataError;
  const message = status < 300 ? 'the service answered 200 with an error' : `the service answered ${status}`;
  const failure = new ErrorClass(`${message}${suffix}`, { hint, ...details });
  return isPassing ? new TransientError(failure, waitMs) : failure;
}

const idHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-trace-id',
  'cf-ray',
];

export function requestIdIn(
  headers: FailedResponse['headers'],
  redact: FailedResponse['redact'],
): string | undefined {
  const id = idHeaders.map((name) => headers[name]).find((value) => value !== undefined);
  return id === undefined ? undefined : redact(id);
}

interface FailureInBody {
  readonly kind: FailureKind;
  readonly text: string;
}

interface Circumstances {
  /** The answer holds no lead: then the text of an error is enough. */
  readonly isEmpty: boolean;
  /** The answer that brought the first leads, without them: what it says, too, is no failure. */
  readonly first?: Json | undefined;
  /** The request: a service may repeat its parameters. */
  readonly asked?: URL | undefined;
  readonly redact?: (text: string) => string;
}

/** The failure that an answer tells, its leads left out; undefined where it tells none. */
export function failureIn(
  body: Json,
  { isEmpty, first, asked: askedUrl, redact = (text) => text }: Circumstances,
): FailureInBody | undefined {
  const firstValues = new Map(outerMembers(first).map(({ place, value }) => [place, value]));
  const echoes = new Set<Json>(askedUrl?.searchParams.values());
  const members = outerMembers(body).filter(
    ({ place, value }) => firstValues.get(place) !== value && !echoes.has(value),
  );
  const words = (): string | undefined => problemText(body, redact);
  const signs = Object.values(isEmpty ? { ...flags, ...besideNothing } : flags);
  const sign = signs.map((isSign) => members.find((member) => isSign(member, words))).find(Boolean);
  if (sign === undefined) return undefined;
  const codes = members.filter(({ plain }) => codeName.test(plain) || plain === 'status');
  const code = codes.map(({ value }) => Number(value)).find((number) => number >= 400 && number < 600);
  const text = words();
  const sentence = text ?? redact(`'${sign.place}' is ${JSON.stringify(sign.value).slice(0, 100)}`);
  return { kind: kindOfText(text, code), text: sentence };
}

const echo = /^(filters?|query|params|parameters|request|criteria|sort|search|where)$/;

const outerMembers = (body: Json | undefined): Member[] =>
  membersOf(body, ({ plain, depth, value }) => (depth < 1 && !echo.test(plain) ? value : undefined));

/** Signs of a failure, each by the services that it was seen with. */
type Signs = Readonly<Record<string, (member: Member, words: () => string | undefined) => boolean>>;

const isFalse = (value: Json): boolean => value === false || value === 'false';
const isTrue = (value: Json): boolean => value === true || value === 'true';

const codeName = /^(error|err|status|http(status)?|result|return|ret|response|resp)?(code|no)$/;
const envelope =
  /^(response|result|meta|status|header|head|error|fault|baseresp|envelope|body|data|output|payload|info|)$/;
const failed =
  /^(err(or)?s?|fail(s|ed|ure)?|false|ko|nok|denied|rejected|unauthori[sz]ed|forbidden|invalid|exception|fatal|timeout)$/i;
const errorText =
  /error|fail|exception|invalid|denied|time ?out|timed out|unavailable|exceed|forbidden|unauthori[sz]ed|not (authori[sz]ed|allowed|permitted)|permission|expired|revoked|too many|limit|quota|throttl|slow ?down|cannot|could not|unable|refused|rejected|maintenance|degraded|incomplete/i;
const successText =
  /^(ok|success\w*|succeeded|done|true|操作成功|成功)\b|\bno (errors?|failures?)\b|without (an )?error/i;
const emptyText =
  /\b(no|0|zero)( \w+){0,2} (results?|leads?|records?|data|items?|entries|content|match(es)?)\b|\b(not?|0) .*(found|match)|not find|is empty/i;

function isErrorText(text: string): boolean {
  const words = text.replace(/[_-]/g, ' ');
  return errorText.test(words) && !successText.test(words) && !emptyText.test(words);
}

/** Some codes mean success somewhere: 0, 1 where nothing says otherwise, `00000` and all of 200 to 299. */
function isErrorCode({ plain, value, parent }: Member, words: () => string | undefined): boolean {
  if (!codeName.test(plain) || !envelope.test(parent)) return false;
  if ((typeof value !== 'number' && typeof value !== 'string') || value === '') return false;
  const number = Number(value);
  const text = words() ?? '';
  if (successText.test(text)) return false;
  if (Number.isNaN(number)) return isErrorText(value as string);
  const isUsual = number === 0 || (number >= 200 && number < 300) || (number === 1 && !isErrorText(text));
  return !isUsual;
}

const flags: Signs = {
  'Marketo, Pipedrive, Slack, Telegram, Cloudflare': ({ plain, value }) =>
    /^(is)?(success(ful)?|succeeded|ok)$/.test(plain) && (isFalse(value) || value === 0 || value === '0'),
  'HubSpot, Zoho, Kubernetes, Flickr, eBay, PHP': ({ plain, value }) =>
    /^(response|result|return)?(status|result|stat|state|ack|outcome)$/.test(plain) &&
    (isFalse(value) ||
      (typeof value === 'string' && failed.test(value)) ||
      (Number(value) >= 400 && Number(value) < 600)),
  'TikTok, WeChat, DingTalk, Feishu, LinkedIn': isErrorCode,
  'Salesforce, Bitrix24, gateways': ({ plain, value }) =>
    /^(is|has)?(errors?|errored|failed|failure|fault|exception)$/.test(plain) && isTrue(value),
};

/** Whether a value that stands for an error is one: services also send empty ones, and codes of success. */
function isFilled(value: Json): boolean {
  if (typeof value === 'string') return !/^(|0|200|none|null|no error|ok|success|false)$/i.test(value.trim());
  if (typeof value === 'number') return value !== 0 && value !== 200;
  return typeof value === 'object' && value !== null && Object.values(value).some(isFilled);
}

const besideNothing: Signs = {
  'the specification, section 7; GraphQL, Google APIs, Microsoft Graph': ({ plain, value }) =>
    /^(odata)?(errs?|errors?|faults?|faultcode|exceptions?|problems?|failures|errormessages?|errormsg|errmsg|errordescription)$/.test(
      plain,
    ) && isFilled(value),
  'Google Maps': ({ plain, value }) =>
    /^(status|result|state)$/.test(plain) && typeof value === 'string' && isErrorText(value),
  'gateways that answer 200 in the place of 429 or 503': ({ plain, value }) =>
    /^(message|msg|messages|detail|details|reason|info|warnings?|statustext|statusmessage|statusdescription)$/.test(
      plain,
    ) && isErrorText(problemText({ message: value }, (text) => text) ?? ''),
};

/** A kind of failure decides the exit code, and whether another try may help. */
export type FailureKind =
  | 'gateway'
  | 'key'
  | 'rate-limit'
  /** The service fails, and may not fail the next time. */
  | 'passing'
  | 'other';

/** The kind of an answer whose status says that it failed. `text`: what the service says; `body`: its first bytes as text. */
export function kindOfAnswer(
  { status, headers }: Pick<FailedResponse, 'status' | 'headers'>,
  text: string | undefined,
  body: string,
): FailureKind {
  if (isGatewayAnswer({ status, headers }, body)) return 'gateway';
  const isRefusal = status === 401 || status === 403;
  const isLimit = isRefusal ? isLimitText(text) || hasNoRequestsLeft(headers) : isCertainLimitText(text);
  if (status === 429 || isLimit) return 'rate-limit';
  if (isRefusal) return 'key';
  return passes(status) ? 'passing' : 'other';
}

/** The kind of a failure that is told in the body of a 200. `code` is a number in the body, which may be a status of HTTP. */
export function kindOfText(text: string | undefined, code?: number): FailureKind {
  if (code === 429 || isLimitText(text)) return 'rate-limit';
  if (code === 401 || code === 403 || (text !== undefined && isKeyText(asWords(text)))) return 'key';
  const isPassing =
    (code !== undefined && code < 600 && passes(code)) || passingText.test(asWords(text ?? ''));
  return isPassing ? 'passing' : 'other';
}

/** `RATE_LIMIT` and `RateLimit` as `rate limit`. */
const asWords = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();

const certainLimit =
  /rate ?limit|too many (api )?(requests|calls|concurrent)|throttl|quota (was |is |has been )?exceeded|exceeded .{0,40}quota|(request|call|usage|query|api|daily|hourly|monthly) limit/;
const likelyLimit =
  /limit (has been |was |is )?(reached|exceeded|hit)|(reached|exceed(ed|s|ing)?|hit|over)( [\w']+){0,4} limits?\b|max(imum)? rate|requests? per (second|minute|hour|day)|too (frequent|fast|often)|slow ?down|quota|^limit( \(\w+\))?$|error code: 1015/;
/** The page is too large: it is asked for smaller. */
const pageSize =
  /page ?size|per ?page|page limit|limit (must|should|cannot|may not|exceeds)|max(imum)? (page|limit)/;

const isCertainLimitText = (text: string | undefined): boolean => certainLimit.test(asWords(text ?? ''));

const isLimitText = (text: string | undefined): boolean =>
  isCertainLimitText(text) || (likelyLimit.test(asWords(text ?? '')) && !pageSize.test(asWords(text ?? '')));

const hasNoRequestsLeft = (headers: FailedResponse['headers']): boolean =>
  headers['retry-after'] !== undefined ||
  ['x-ratelimit-remaining', 'x-rate-limit-remaining', 'ratelimit-remaining'].some(
    (name) => headers[name] === '0',
  );

const credential =
  'api ?key|access key|token|credentials?|signature|session|login|jwt|bearer|authentication|authorization';
const wrong =
  'invalid|expired?|revoked|missing|incorrect|wrong|unknown|bad|denied|inactive|disabled|required|failed|not (valid|recogni[sz]ed|found|active)';
const keyText = new RegExp(
  [
    String.raw`\b(${credential})\b.{0,40}\b(${wrong})\b|\b(${wrong}|no)\b.{0,30}\b(${credential})\b`,
    String.raw`\b(invalid|expired|wrong|bad|revoked) key\b`,
    '(un|not )(authori[sz]ed|authenticated)|(access|permission) denied|forbidden|invalid grant|insufficient (scope|permission)',
  ].join('|'),
);
const pageToken = /(page|next|cursor|continuation|sync|skip|scroll) ?(token|key)/;
const isKeyText = (text: string): boolean => keyText.test(text) && !pageToken.test(text);

const passingText =
  /time ?out|timed out|temporar|unavailable|try again|internal (server )?error|server error|overload|busy|maintenance|deadlock|connection (was )?(refused|reset|lost|closed)|bad gateway/;

/**
 * Pages by which gateways, firewalls and bot checks refuse a client: Cloudflare, Akamai, Imperva, AWS, Vercel, Sucuri, DataDome,
 * HUMAN, F5 and FortiWeb. A JSON interface refuses a key in JSON, so that any page for people counts, too.
 */
function isGatewayAnswer(
  { status, headers }: Pick<FailedResponse, 'status' | 'headers'>,
  body: string,
): boolean {
  if (gatewayHeaders.some((name) => headers[name] !== undefined)) return true;
  // PHP declares JSON as HTML unless the application sets the type.
  const isHtml = /html/i.test(headers['content-type'] ?? '') && /^\s*[^\s{["]/.test(body);
  const isPage = isHtml || /^\s*<(!doctype html|html)/i.test(body);
  // RFC 6585, section 6: a network that asks for a login.
  if (status === 511) return true;
  if (status === 401 || status === 403) return isPage || challengeData.test(body);
  return isPage && [200, 202, 405, 406, 503].includes(status) && challengePage.test(body);
}

const gatewayHeaders = ['cf-mitigated', 'x-amzn-waf-action', 'x-vercel-mitigated', 'x-sucuri-block'];
const challengeData =
  /captcha|error code: 10(?!15)\d\d|cloudflare_error|"appId"\s*:\s*"PX|request (was )?blocked/i;
const challengePage =
  /just a moment|attention required!|captcha|challenge-platform|incapsula|<title>request rejected|support id is|sucuri|web page blocked|ddos-guard/i;
