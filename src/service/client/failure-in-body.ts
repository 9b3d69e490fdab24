import { isDeepStrictEqual } from 'node:util';
import { membersOf, type Json, type Member, plainName } from '../../json/exact.ts';
import { type FailureKind, kindByText } from './failure-kind.ts';
import { problemText } from './problem-text.ts';

interface FailureInBody {
  readonly kind: FailureKind;
  readonly text: string;
}

/**
 * `isEmpty`: the answer holds no lead; then the text of an error is a sign. `first`: the first answer with leads, which are left out:
 * what it has with the same content is ordinary for this service, and no sign. `requestUrl`: the requested address, whose parameters a
 * service may repeat.
 */
interface Circumstances {
  readonly isEmpty: boolean;
  readonly first?: Json | undefined;
  readonly requestUrl?: URL | undefined;
  readonly redact?: (text: string) => string;
}

/** Finds the failure that a body tells, its leads left out; undefined where it tells none. */
export function failureInBody(
  body: Json,
  { isEmpty, first, requestUrl, redact = (text) => text }: Circumstances,
): FailureInBody | undefined {
  const firstValues = new Map(outerMembers(first).map(({ place, value }) => [place, value]));
  const parameters = [...(requestUrl?.searchParams ?? [])];
  const members = outerMembers(body).filter(
    (member) =>
      !isDeepStrictEqual(firstValues.get(member.place), member.value) &&
      !repeatsParameter(member, parameters),
  );
  const words = (): string | undefined => problemText(body, redact);
  const signs = Object.values(isEmpty ? { ...certainSigns, ...signsWhenEmpty } : certainSigns);
  const sign = signs.map((isSign) => members.find((member) => isSign(member, words))).find(Boolean);
  if (sign === undefined) return undefined;
  const codes = members.filter(({ plain }) => codeName.test(plain) || plain === 'status');
  const code = codes.map(({ value }) => Number(value)).find((number) => number >= 400 && number < 600);
  const text = words();
  const sentence = text ?? redact(`'${sign.place}' is ${JSON.stringify(sign.value).slice(0, 100)}`);
  return { kind: kindByText(text, code), text: sentence };
}

/**
 * Whether a service repeats a parameter of the request in this member, perhaps by another name. A number or a truth can be equal by
 * chance, so that there the name has to fit as well: `limit=500` does not explain `"status": 500`.
 */
function repeatsParameter(
  { plain, value }: Member,
  parameters: readonly (readonly [string, string])[],
): boolean {
  if (typeof value === 'object') return false;
  const equalByValue = parameters.filter(([, text]) => text === String(value));
  const isCommonValue = /^(true|false)$/.test(String(value)) || !Number.isNaN(Number(value));
  const innermostName = (name: string): string => name.split(/[^A-Za-z0-9_-]+/).findLast(Boolean) ?? '';
  return equalByValue.some(
    ([name]) => !isCommonValue || plainName(name) === plain || plainName(innermostName(name)) === plain,
  );
}

/** Members in which services repeat the request: a filter such as `status=failed` is no sign of a failure. */
const requestMember = /^(filters?|query|params|parameters|request|criteria|sort|search|where)$/;

const outerMembers = (body: Json | undefined): Member[] =>
  membersOf(body, ({ plain, depth, value }) => (depth < 1 && !requestMember.test(plain) ? value : undefined));

/**
 * Signs of a failure. The code reads no key: it only names the services in whose answers the sign was seen. `certainSigns` tell a
 * failure even in an answer with leads; `signsWhenEmpty` only in one without leads, since other services send such texts as remarks.
 */
type Signs = Readonly<Record<string, (member: Member, words: () => string | undefined) => boolean>>;

const isFalse = (value: Json): boolean => value === false || value === 'false';
const isTrue = (value: Json): boolean => value === true || value === 'true';

const codeName = /^(error|err|status|http(status)?|result|return|ret|response|resp)?(code|no)$/;
/** A code tells the outcome in these objects and in the body itself (''). Elsewhere it is data, such as `currency.code`. */
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

/** Codes that some services send with success are no error: 0, `00000`, 200 to 299, and 1 unless the text tells an error. */
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

const certainSigns: Signs = {
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

const signsWhenEmpty: Signs = {
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
