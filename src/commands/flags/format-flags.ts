import { oneOf, text } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import type { TypedValues } from './check-flags.ts';
import type { Flags, ValueFlag } from './flag.ts';

export const jqFlag = {
  jq: {
    value: 'expression',
    type: text,
    help: 'what this filter of jq makes of each JSON document, texts as they are; implies --json; arithmetic rounds, other numbers keep their digits',
  },
} satisfies Flags;

/** `--format`, its short form `--json`, which means the first of `json` and `events` that the command has, and `--jq`. */
export function formatFlags<const F extends string>(formats: readonly [F, ...F[]]) {
  const json: string = (formats as readonly string[]).includes('json') ? 'json' : 'events';
  return {
    format: { value: 'form', type: oneOf(formats), default: formats[0] as string },
    json: { help: `short for --format ${json}`, shortFor: ['format', json] },
    ...jqFlag,
  } as const;
}

const otherForms = ['table', 'csv', 'pretty', 'text'];

/** `--jq` means `--json`, unless the command's form is JSON anyway. Throws a `UsageError` beside a form that is not. */
export function withJson(flags: Flags, typed: TypedValues): TypedValues {
  const format = flags['format'] as ValueFlag<unknown> | undefined;
  if (typed['jq'] === undefined || format === undefined) return typed;
  const named = typed['format'];
  if (typeof named === 'string') {
    if (!otherForms.includes(named) || format.type.parse(named) === undefined) return typed;
    throw new UsageError(`--jq and --format ${named} do not go together`, {
      hint: '--jq reads JSON: leave --format out',
    });
  }
  const usual = format.default ?? format.type.choices?.[0] ?? '';
  return otherForms.includes(usual) ? { ...typed, json: true } : typed;
}
