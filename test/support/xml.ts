export interface XmlElement {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  /** Of the element itself, up to its first child. */
  readonly text: string;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code: string | undefined, name = '') =>
    code === undefined ? (entities[name as string] ?? whole) : String.fromCharCode(Number(code)),
  );

/** The elements of a document without comments, CDATA and DTD, in order. Throws for one that is not well-formed. */
export function elementsOf(document: string): XmlElement[] {
  const open: string[] = [];
  const found: XmlElement[] = [];
  const body = document.replace(/^<\?xml version="1.0" encoding="UTF-8"\?>\n/, '');
  const tag = /<(\/?)([\w-]+)((?: [\w-]+="[^"<]*")*)\s*(\/?)>([^<]*)/y;
  let end = 0;
  for (let match = tag.exec(body); match !== null; match = tag.exec(body)) {
    const [, closing, name = '', list = '', empty, text = ''] = match;
    end = tag.lastIndex;
    if (/&(?!(?:#\d+|amp|lt|gt|quot|apos);)/.test(list + text)) throw new Error(`a bare & in ${name}`);
    if (closing === '/') {
      if (open.pop() !== name) throw new Error(`</${name}> closes another element`);
      continue;
    }
    const attributes = [...list.matchAll(/ ([\w-]+)="([^"]*)"/g)];
    found.push({
      name,
      parent: open.at(-1),
      attributes: Object.fromEntries(attributes.map(([, key = '', value = '']) => [key, decoded(value)])),
      text: decoded(text),
    });
    if (empty !== '/') open.push(name);
  }
  if (open.length > 0 || body.slice(end).trim() !== '')
    throw new Error(`not XML: ${body.slice(end, end + 80)}`);
  return found;
}
