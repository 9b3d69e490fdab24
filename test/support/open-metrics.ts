/** One line with a value. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ParsedFamily {
  readonly name: string;
  type: string | undefined;
  unit: string | undefined;
  help: string | undefined;
  readonly samples: ParsedSample[];
}

/** The suffixes of each type that we write, by the section "Metric types". */
const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum', '_created'],
};

const number = /^(NaN|[+-]?Inf|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)$/;

/**
 * Reads the text format of OpenMetrics 1.0 and throws at the first thing that its specification does not allow, or that
 * `promtool check metrics` would warn of.
 */
export function parseOpenMetrics(text: string): ParsedFamily[] {
  if (!text.endsWith('\n# EOF\n')) throw new Error('it does not end with # EOF');
  const families: ParsedFamily[] = [];
  for (const line of text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    if (line === '' || line.includes('\r')) throw new Error(`an empty line, or a CR: ${line}`);
    if (line.startsWith('#')) readMetadata(line, families);
    else readSample(line, families);
  }
  for (const family of families) checkFamily(family);
  return families;
}

function readMetadata(line: string, families: ParsedFamily[]): void {
  const [, key, name = '', text = ''] =
    /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? [];
  if (key === undefined) throw new Error(`no metadata: ${line}`);
  let family = families.at(-1);
  if (family?.name !== name) {
    family = { name, type: undefined, unit: undefined, help: undefined, samples: [] };
    families.push(family);
  }
  const field = key.toLowerCase() as 'type' | 'unit' | 'help';
  if (family[field] !== undefined || family.samples.length > 0) throw new Error(`too late or twice: ${line}`);
  family[field] = key === 'HELP' ? unescaped(text) : text;
}

function readSample(line: string, families: readonly ParsedFamily[]): void {
  const [, name = '', , labelText, value = ''] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{((?:[^"]|"(?:[^"\\]|\\.)*")*)\})? (\S+)$/.exec(line) ?? [];
  const family = families.at(-1);
  if (family === undefined || !number.test(value)) throw new Error(`no sample: ${line}`);
  if (!(suffixes[family.type ?? ''] ?? []).some((suffix) => name === family.name + suffix)) {
    throw new Error(`not of the ${family.type ?? ''} ${family.name}: ${line}`);
  }
  const numeric = Number(value.replace('Inf', 'Infinity'));
  family.samples.push({ name, labels: readLabels(labelText ?? '', line), value: numeric });
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const [all = '', name = '', value = ''] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,(?=.)|$)/.exec(rest) ?? [];
    if (all === '' || Object.hasOwn(labels, name)) throw new Error(`no labels: ${line}`);
    labels[name] = unescaped(value);
    rest = rest.slice(all.length);
  }
  return labels;
}

const unescaped = (text: string): string =>
  text.replace(/\\(.?)/g, (_, character: string) => {
    if (character === 'n') return '\n';
    if (character === '\\' || character === '"') return character;
    throw new Error(`not an escape: \\${character}`);
  });

function checkFamily({ name, type = '', unit, help, samples }: ParsedFamily): void {
  const fail = (what: string): never => {
    throw new Error(`${name}: ${what}`);
  };
  if (suffixes[type] === undefined) fail('an unknown type');
  if (help === undefined || help === '') fail('no help');
  if (unit !== undefined && !name.endsWith(`_${unit}`)) fail('the unit does not end the name');
  if (unit === undefined && /_(seconds|bytes|ratio)$/.test(name)) fail('a unit without metadata');
  if (/_(total|created|bucket|count|sum|info|ms|milliseconds|counter|gauge|histogram)$/.test(name)) {
    fail('a name that is not allowed or not advised');
  }
  const keys = samples.map((sample) => JSON.stringify([sample.name, Object.entries(sample.labels).sort()]));
  if (new Set(keys).size !== keys.length) fail('a series twice');
}

/** The sum of all series of a metric whose labels have these values; undefined where there is none. */
export function valueOf(
  families: readonly ParsedFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = families
    .flatMap(({ samples }) => samples)
    .filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
