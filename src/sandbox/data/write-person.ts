import { otherPeople, type People, westernPeople } from './people.ts';
import { recordArena, utf8 } from './record-arena.ts';
import { pick } from './seeded-random.ts';

/** `People` in UTF-8, encoded once. */
interface EncodedPeople {
  readonly given: readonly (readonly Uint8Array[])[];
  readonly family: readonly (readonly Uint8Array[])[];
  readonly familyFirst: boolean;
  readonly domains: readonly Uint8Array[];
  readonly phones: readonly Uint8Array[];
}

const encode = ({ given, family, familyFirst, domains, phones }: People): EncodedPeople => ({
  given: given.map((name) => name.map(utf8)),
  family: family.map((name) => name.map(utf8)),
  familyFirst: familyFirst === true,
  domains: domains.map(utf8),
  phones: phones.map(utf8),
});

const western = encode(westernPeople);
const others = otherPeople.map(encode);
const [space, dot, at, nothing] = [utf8(' '), utf8('.'), utf8('@'), utf8('')];
const [nameIs, emailIs, phoneIs] = [utf8('"name":"'), utf8('","email":"'), utf8('","phone":"')];
const hash = 0x23;

/** Writes the name, e-mail address and phone of one person as JSON members: the same draws give the same person. */
export function writePerson(draw: () => number): void {
  const people = draw() < 0.5 ? western : pick(others, draw);
  const [given = nothing, mailGiven = nothing] = pick(people.given, draw);
  const [family = nothing, mailFamily = nothing] = pick(people.family, draw);
  const number = Math.floor(draw() * 1000);
  recordArena.append(nameIs);
  recordArena.append(people.familyFirst ? family : given);
  if (!people.familyFirst) recordArena.append(space);
  recordArena.append(people.familyFirst ? given : family);
  recordArena.append(emailIs);
  recordArena.append(mailGiven);
  recordArena.append(dot);
  recordArena.append(mailFamily);
  recordArena.appendDigits(number);
  recordArena.append(at);
  recordArena.append(pick(people.domains, draw));
  recordArena.append(phoneIs);
  const pattern = pick(people.phones, draw);
  const start = recordArena.position;
  recordArena.append(pattern);
  for (let i = 0; i < pattern.length; i += 1) {
    if (pattern[i] === hash) recordArena.overwriteDigit(start + i, Math.floor(draw() * 10));
  }
}
