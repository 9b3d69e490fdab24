import { oneOf } from '../../config/value-types.ts';

/** `--format` and its short form `--json`, which means the first of `json` and `events` that the command has. */
export function formatFlags<const F extends string>(formats: readonly [F, ...F[]]) {
  const json: string = (formats as readonly string[]).includes('json') ? 'json' : 'events';
  return {
    format: { value: 'form', type: oneOf(formats), default: formats[0] as string },
    json: { help: `short for --format ${json}`, shortFor: ['format', json] },
  } as const;
}
