// Writes text as mdoc(7), the language of manual pages, in ASCII, so that every reader of manuals shows it the same. A line that
// begins with a dot is a request or a macro, and a backslash begins an escape.

/** Returns the text with every request and escape disabled. */
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

/** Returns an argument of a macro that is never read as a macro itself. */
export const argument = (text) => `"\\&${escaped(text).replaceAll('"', '\\(dq')}"`;

/** Returns a line of text that does not begin as a request does. */
const line = (text) => escaped(text).replace(/^[.\s]*/, (start) => `\\&${start.trim()}`);

/** Returns a paragraph for each line, in which each sentence begins on a new line. */
export const paragraphs = (text) =>
  text
    .split('\n')
    .flatMap((paragraph, i) => [...(i === 0 ? [] : ['.Pp']), ...sentencesOf(paragraph).map(line)]);

const sentencesOf = (paragraph) => paragraph.split(/(?<=[a-z)]\.) (?=[-A-Z])/);

/** Returns the lines below a title; nothing where there are none. */
export const section = (title, lines) => (lines.length === 0 ? [] : [`.Sh ${title}`, ...lines]);

/** Returns a list of terms, each with its text below it. */
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

/** Returns command lines as a user types them. */
export const commandLines = (commands) => commands.map((command) => `.Dl ${argument(`$ ${command}`)}`);

/** Returns the text of a page with these lines as its body. */
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
