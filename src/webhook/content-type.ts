import { type Delivery, headerValues } from './delivery.ts';
import { type Rejected, rejected } from './scheme.ts';

const mediaType = /^application\/(?:[!#$&^_.+a-z0-9-]+\+)?json$/i;
const charset = /^charset=(?:utf-?8|"utf-?8")$/i;

/**
 * Whether a delivery is sent as `application/json` (specification, section 4.2) or another JSON type, in UTF-8 and not
 * compressed.
 */
export function jsonContent(delivery: Delivery): { ok: true } | Rejected {
  const [type, ...others] = headerValues(delivery, 'content-type');
  if (type === undefined) return rejected('wrong_content_type', 'the header content-type is missing');
  if (others.length > 0) return rejected('wrong_content_type', 'the header content-type was sent twice');
  const problem = problemOf(type);
  if (problem !== undefined) return rejected('wrong_content_type', problem);
  const coding = headerValues(delivery, 'content-encoding').find((value) => !/^identity$/i.test(value));
  if (coding !== undefined) {
    return rejected(
      'encoded_body',
      `the body is sent with content-encoding '${coding}'; only identity is accepted`,
    );
  }
  return { ok: true };
}

function problemOf(type: string): string | undefined {
  const [media = '', ...parameters] = type.split(';').map((part) => part.trim());
  if (!mediaType.test(media)) return `the content type is '${media}', not application/json`;
  const other = parameters.find((parameter) => /^charset\s*=/i.test(parameter) && !charset.test(parameter));
  return other === undefined ? undefined : `the body's ${other} is not UTF-8`;
}
