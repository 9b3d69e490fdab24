import { isObject, type Json } from '../../json/exact.ts';
import { type FailureKind, kindOfText } from './failure-kind.ts';
import { problemText } from './problem-text.ts';

/** A failure that a service tells in the body of a success. */
export interface FailureInBody {
  readonly kind: FailureKind;
  /** The text of the service, or the member that says that it failed. */
  readonly text: string;
}

interface Circumstances {
  /** The answer holds no lead: then the text of an error is enough. */
  readonly isEmpty: boolean;
  /** The answer that brought the first leads, without them: what it says, too, is no failure. */
  readonly first?: Json | undefined;
  /** The request: a service may repeat its parameters. */
  readonly asked?: URL | undefined;
  readonly redact?: ((text: string) => string) | undefined;
}

/** The failure that an answer tells, its leads left out; undefined where it tells none. */
export function failureIn(body: Json, circumstances: Circumstances): FailureInBody | undefined {
  const { isEmpty, first, asked, redact = (text: string) => text } = circumstances;
  const usualValues = new Map(
    first === undefined ? [] : membersOf(first).map(({ place, value }) => [place, value]),
  );
  const echoes = new Set(asked?.searchParams.values());
  const members = membersOf(body).filter(
    ({ place, value }) =>
      usualValues.get(place) !== value && !(typeof value === 'string' && echoes.has(value)),
  );
  const text = problemText(body, redact);
  const rows = isEmpty ? [...flags, ...besideNothing] : flags;
  const sign = rows.flatMap(([, isSign]) => members.find((member) => isSign(member, text ?? '')) ?? [])[0];
  if (sign === undefined) return undefined;
  const code = members
    .filter(({ name }) => codeName.test(name) || name === 'status')
    .map(({ value }) => Number(value))
    .find((number) => number >= 400 && number < 600);
  const inWords = text ?? redact(`'${sign.place}' is ${JSON.stringify(sign.value).slice(0, 100)}`);
  return { kind: kindOfText(text, code), text: inWords };
}

interface Member {
  /** Without its case, dashes and underscores. */
  readonly name: string;
  readonly place: string;
  readonly value: Json;
  /** In an object of the answer. */
  readonly isInner: boolean;
  readonly parent: string;
}

/** Members that repeat the request. */
const echo = /^(filters?|query|params|parameters|request|criteria|sort|search|where)$/;

function membersOf(body: Json): Member[] {
  if (!isObject(body)) return [];
  const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return Object.entries(body).flatMap(([name, value]): Member[] => {
    const outer = { name: plain(name), place: name, value, isInner: false, parent: '' };
    if (!isObject(value) || echo.test(outer.name)) return [outer];
    const inner = Object.entries(value).map(([key, innerValue]): Member => {
      const place = `${name}.${key}`;
      return { name: plain(key), place, value: innerValue, isInner: true, parent: outer.name };
    });
    return [outer, ...inner];
  });
}

type Row = readonly [source: string, isSign: (member: Member, text: string) => boolean];

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
/** An empty list is no failure. */
const emptyText =
  /\b(no|0|zero)( \w+){0,2} (results?|leads?|records?|data|items?|entries|content|match(es)?)\b|\b(not?|0) .*(found|match)|not find|is empty/i;

function isErrorText(text: string): boolean {
  const plain = text.replace(/[_-]/g, ' ');
  return errorText.test(plain) && !successText.test(plain) && !emptyText.test(plain);
}

/** A code that means success somewhere: 0, 1 where nothing says otherwise, `00000` and all of 200 to 299. */
function isErrorCode({ name, value, isInner, parent }: Member, text: string): boolean {
  if (!codeName.test(name) || (isInner && !envelope.test(parent))) return false;
  if (typeof value !== 'number' && typeof value !== 'string') return false;
  const number = Number(value);
  if (value === '' || successText.test(text)) return false;
  if (Number.isNaN(number)) return isErrorText(value as string);
  const isUsual = number === 0 || (number >= 200 && number < 300) || (number === 1 && !isErrorText(text));
  return !isUsual;
}

/** Members that say that a request failed, whatever stands beside them. */
const flags: readonly Row[] = [
  [
    'Marketo, Pipedrive, Slack, Telegram, Cloudflare',
    ({ name, value }) =>
      /^(is)?(success(ful)?|succeeded|ok)$/.test(name) && (isFalse(value) || value === 0 || value === '0'),
  ],
  [
    'HubSpot, Zoho, Kubernetes, Flickr, eBay, PHP',
    ({ name, value }) =>
      /^(response|result|return)?(status|result|stat|state|ack|outcome)$/.test(name) &&
      (isFalse(value) ||
        (typeof value === 'string' && failed.test(value)) ||
        (Number(value) >= 400 && Number(value) < 600)),
  ],
  ['TikTok, WeChat, DingTalk, Feishu, LinkedIn', isErrorCode],
  [
    'Salesforce, Bitrix24, gateways',
    ({ name, value }) =>
      /^(is|has)?(errors?|errored|failed|failure|fault|exception)$/.test(name) && isTrue(value),
  ],
];

/** Whether a value that stands for an error is one: services also send empty ones, and codes of success. */
function isFilled(value: Json): boolean {
  if (typeof value === 'string') return !/^(|0|200|none|null|no error|ok|success|false)$/i.test(value.trim());
  if (typeof value === 'number') return value !== 0 && value !== 200;
  return typeof value === 'object' && value !== null && Object.values(value).some(isFilled);
}

/** Members that say it where no lead came. */
const besideNothing: readonly Row[] = [
  [
    'the specification, section 7; GraphQL, Google APIs, Microsoft Graph',
    ({ name, value }) =>
      /^(odata)?(errs?|errors?|faults?|faultcode|exceptions?|problems?|failures|errormessages?|errormsg|errmsg|errordescription)$/.test(
        name,
      ) && isFilled(value),
  ],
  [
    'Google Maps',
    ({ name, value }) =>
      /^(status|result|state)$/.test(name) && typeof value === 'string' && isErrorText(value),
  ],
  [
    'gateways that answer 200 in the place of 429 or 503',
    ({ name, value }) =>
      /^(message|msg|messages|detail|details|reason|info|warnings?|statustext|statusmessage|statusdescription)$/.test(
        name,
      ) && isErrorText(problemText({ message: value }, (text) => text) ?? ''),
  ],
];
