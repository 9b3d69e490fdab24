// Text as mdoc(7), in ASCII, so that every reader of manuals shows it the same.

/** A text in which nothing is a request or an escape. */
export const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(
      /[^\x20-\x7e]/gu,
      (letter) => `\\[u${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );

/** One argument of a macro, never taken for a macro itself. */
export const argument = (text) => `"\\&${escaped(text).replaceAll('"', '\\(dq')}"`;

/** A line of text. */
const line = (text) => escaped(text).replace(/^[.\s]*/, (start) => `\\&${start.trim()}`);

/** Paragraphs, one for each line; each sentence begins a line of its own. */
export const paragraphs = (text) =>
  text
    .split('\n')
    .flatMap((one, i) => [...(i === 0 ? [] : ['.Pp']), ...one.split(/(?<=[a-z)]\.) (?=[-A-Z])/).map(line)]);

export const section = (title, lines) => (lines.length === 0 ? [] : [`.Sh ${title}`, ...lines]);

/** Terms with their texts below them. */
export const definitions = (rows) =>
  rows.length === 0
    ? []
    : [
        '.Bl -tag -width Ds',
        ...rows.flatMap(([term, text]) => [
          `.It Sy ${argument(term)}`,
          ...(text === '' ? [] : paragraphs(text)),
        ]),
        '.El',
      ];

/** Command lines, as they are typed. */
export const commandLines = (lines) => lines.map((one) => `.Dl ${argument(`$ ${one}`)}`);

export const page = ({ name, summary, date, body }) =>
  [
    `.Dd ${date}`,
    `.Dt ${name.toUpperCase()} 1`,
    '.Os',
    '.Sh NAME',
    `.Nm ${name}`,
    `.Nd ${escaped(summary)}`,
    ...body,
    '',
  ].join('\n');
