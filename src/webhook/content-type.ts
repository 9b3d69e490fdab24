import { type Delivery, headerValues } from './delivery.ts';
import { type Rejected, rejected } from './scheme.ts';

const mediaType = /^application\/(?:[!#$&^_.+a-z0-9-]+\+)?json$/i;
const charset = /^charset=(?:utf-?8|"utf-?8")$/i;

/** `application/json`, or another JSON type, in UTF-8 and as it is: what the specification, section 4.2, sends. */
export function jsonContent(delivery: Delivery): { ok: true } | Rejected {
  const [type, ...others] = headerValues(delivery, 'content-type');
  if (type === undefined) return rejected('wrong_content_type', 'the header content-type is missing');
  if (others.length > 0) return rejected('wrong_content_type', 'the header content-type was sent twice');
  const wrong = type === 'application/json' ? undefined : wrongIn(type);
  if (wrong !== undefined) return rejected('wrong_content_type', wrong);
  const coding = headerValues(delivery, 'content-encoding').find((one) => !/^identity$/i.test(one));
  if (coding !== undefined) {
    return rejected(
      'encoded_body',
      `the body is sent with content-encoding '${coding}'; only identity is taken`,
    );
  }
  return { ok: true };
}

function wrongIn(type: string): string | undefined {
  const [media = '', ...parameters] = type.split(';').map((part) => part.trim());
  if (!mediaType.test(media)) return `the content type is '${media}', not application/json`;
  const other = parameters.find((one) => /^charset\s*=/i.test(one) && !charset.test(one));
  return other === undefined ? undefined : `the body's ${other} is not UTF-8`;
}
