import { openBrace } from '../bytes.ts';
import { type Member, onlyMember } from './members.ts';

/** A shape of elements that hold the lead in a member, as some kinds of services send them. */
export interface Wrapper {
  /** The member that holds the lead. */
  readonly member: string;
  /** Members that it has to have as well. */
  readonly needs: readonly string[];
  /** Names that may stand beside the lead; an element with others is no wrapper, since what they hold would be lost. */
  readonly beside: RegExp;
  /** The member that identifies a lead which has no id itself. */
  readonly id?: string;
}

const wrappers: readonly Wrapper[] = [
  // GraphQL Cursor Connections: edges[].node.
  { member: 'node', needs: [], beside: /^(cursor|__typename)$/ },
  // CouchDB with include_docs=true: rows[].doc.
  { member: 'doc', needs: ['id', 'key', 'value'], beside: /^(id|key|value)$/, id: 'id' },
  // Elasticsearch: hits[]._source.
  {
    member: '_source',
    needs: [],
    beside: /^(_.*|sort|fields|highlight|matched_queries|inner_hits)$/,
    id: '_id',
  },
  { member: 'lead', needs: [], beside: /^$/ },
];

/** The wrapper that an element with these members is. What is null where the lead would be may be one that was deleted. */
export function wrapperOf(json: Buffer, members: readonly Member[]): Wrapper | undefined {
  return wrappers.find((wrapper) => {
    const lead = onlyMember(members, wrapper.member);
    if (lead === undefined) return false;
    const isObjectOrNull =
      json[lead.start] === openBrace || json.toString('latin1', lead.start, lead.end) === 'null';
    const hasAll = wrapper.needs.every((name) => onlyMember(members, name) !== undefined);
    return isObjectOrNull && hasAll && strangerIn(members, wrapper) === undefined;
  });
}

/** The name of a member that does not belong to the wrapper. */
export const strangerIn = (members: readonly Member[], { member, beside }: Wrapper): string | undefined =>
  members.map(({ name }) => name).find((name) => name !== member && !beside.test(name));
