import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import { jsonSchemas } from '../../.config/schemas/json-schemas.ts';

const ajv = new Ajv({ strict: false, validateFormats: false });
const closed = jsonSchemas('closed');
const validators = new Map<string, ValidateFunction>();

function validatorOf(name: string): ValidateFunction | undefined {
  const schema = closed.get(name);
  if (schema === undefined) return undefined;
  const known = validators.get(name) ?? ajv.compile(schema);
  validators.set(name, known);
  return known;
}

/** Throws where what a run printed as JSON is not what its schema says, to the last field. */
export function requireValidJson(argv: readonly string[], stdout: string, stderr: string): void {
  const typed = argv.join(' ');
  const isJson = /(^| )--json\b|--format[ =](json|ndjson|events|redacted)\b/.test(typed);
  if (!isJson || /--help|--junit/.test(typed)) return;
  const [command = '', below = ''] = argv;
  const isVersion = /^(--json )?(--version|-V)( |$)/.test(typed);
  const name = [isVersion ? 'version' : `${command}.${below}`, command].find(
    (one) => validatorOf(one) !== undefined,
  );
  if (name !== undefined) check(name, documentsIn(stdout));
  check('error', documentsIn(stderr.replace(/^(?!\{"error":).*$/gm, '')));
}

/** A document, the elements of an array, or documents that each begin a line: on a terminal they are indented. */
function documentsIn(stdout: string): readonly unknown[] {
  try {
    return [JSON.parse(stdout) as unknown].flat();
  } catch {
    const texts = stdout.split(/^(?=\{)/m).filter((text) => text.trim() !== '');
    return texts.map((text) => JSON.parse(text) as unknown);
  }
}

function check(name: string, documents: readonly unknown[]): void {
  const validate = validatorOf(name);
  for (const document of documents) {
    if (validate === undefined || validate(document)) continue;
    const said = ajv.errorsText(validate.errors);
    throw new Error(`not what the schema of ${name} says: ${said}\n${JSON.stringify(document)}`);
  }
}
