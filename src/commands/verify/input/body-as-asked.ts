import type { Capture, CaptureNote } from '../../../capture/capture.ts';
import { bodyNote, valueOf } from '../../../capture/capture.ts';
import { DataError } from '../../../errors.ts';
import { type BodyFormName } from '../../../webhook/explain/body/body-form-names.ts';
import { bodyForms } from '../../../webhook/explain/body/body-forms.ts';
import type { Scheme } from '../../../webhook/scheme.ts';

/**
 * The bytes that are checked: those of the capture, or, for `--body-form`, the same as another program writes them. Throws
 * a `DataError` where the capture holds no body and the scheme needs one.
 */
export function bodyAsAsked(
  capture: Capture,
  scheme: Scheme,
  form: BodyFormName | undefined,
): { readonly body: Uint8Array; readonly notes: readonly CaptureNote[] } {
  const { body, rawHeaders } = capture;
  if (body === undefined) {
    const [note] = capture.notes.filter(({ about }) => about === 'body');
    if (scheme.ignoresBody === true) return { body: new Uint8Array(), notes: [] };
    throw new DataError(note?.text ?? 'the capture holds no body', {
      hint: 'what is signed is the exact bytes of the body: --body FILE',
    });
  }
  const length = valueOf(rawHeaders, 'content-length');
  const isOther = length !== undefined && /^\d{1,15}$/.test(length) && Number(length) !== body.length;
  const notes = isOther
    ? [
        bodyNote(
          `content-length says ${length} bytes and the body here has ${body.length}: it is not the body that was sent`,
        ),
      ]
    : [];
  if (form === undefined) return { body, notes };
  const found = bodyForms(body).find(({ name }) => name === form);
  if (found !== undefined) {
    return { body: found.bytes, notes: [bodyNote(`checked is not the body as it came, but ${found.what}`)] };
  }
  return { body, notes: [...notes, bodyNote(`--body-form ${form} changes nothing in this body`)] };
}
