/** The targets of a `Link` header by their relation (RFC 8288), or undefined when there is none. */
export function linksIn(header: string | undefined): ReadonlyMap<string, string> | undefined {
  if (header === undefined) return undefined;
  const links = new Map<string, string>();
  for (const [, target = '', parameters = ''] of header.matchAll(
    /<([^>]*)>((?:\s*;\s*[^,;"]+(?:"[^"]*")?)*)/g,
  )) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters);
    for (const name of (relation?.[1] ?? relation?.[2] ?? '').toLowerCase().split(/\s+/)) {
      if (name !== '' && !links.has(name)) links.set(name, target.trim());
    }
  }
  return links;
}
