import { describe, expect, it } from 'vitest';
import { findPerson, type Person, readableIn } from '../../src/inbox/find-person.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { open } from './stores.ts';
import { arrivalOf, deliveryOf } from './support.ts';

const email = (value: string): Person => ({ by: 'email', value });
const phone = (value: string): Person => ({ by: 'phone', value });
const id = (value: string): Person => ({ by: 'id', value });

describe('a person in a text of anybody', () => {
  it.each([
    [email('Ada@Example.com '), 'x<ADA@example.COM>.'],
    [email("o'brien@example.com"), `{"email":"o'brien@example.com"}`],
    [email('ada@example.com'), "to='ada@example.com'"],
    [email('ada@example.com'), String.raw`{"note":"first line\nada@example.com\ttoo"}`],
    [email('ada@example.com'), String.raw`{"email":"ad\u0061\u0040example.com"}`],
    [email('ada+x@example.com'), '/hook?to=ada%2Bx%40example.com&x=1'],
    [email('ada@example.com'), '/hook?to=eve+ada%40example.com'],
    [email('ada@example.com'), 'payload=%7B%22email%22%3A%22ada%5Cu0040example.com%22%7D'],
    [email('ädä@example.com'), String.raw`{"email":"\u00e4da\u0308@example.com"}`],
    [email('ädä@example.com'), '/hook?to=%C3%A4d%C3%A4@example.com'],
    [email('a/b=c@example.com'), '{"email":"a/b=c@example.com"}'],
    [phone('+44 20 7946 0958'), '{"phone":"0044 (20) 7946-0958"}'],
    [phone('442079460958'), '12 44 20 7946.0958\n7'],
    [phone('442079460958'), '/hook?tel=%2B44%2020%207946%200958'],
    [id('lead_1'), '{"id" :"lead_1","conta'],
    [id('lead_1'), String.raw`{"a":{"b":{"c":{"id":"lead\u005f1"}}}}`],
    [id('71'), '{"leads":[{"id":71}]'],
    [id('lead_1'), '/hook/lead_1?x=1'],
    [id('lead_1'), 'id=lead_1&name=Ada'],
  ])('%j is readable in %s', (person, text) => {
    expect(readableIn(person)({ body: Buffer.from(text) })).toBe(true);
  });

  it.each([
    [email('ada@example.com'), 'nada@example.com, x.ada@example.com, ada@example.com.au, ada@example.comm'],
    [email('ada@example.com'), '{"email":"eve+ada@example.com"}'],
    [email('brien@example.com'), "o'brien@example.com"],
    [phone('2079460958'), '442079460958, 20794609581'],
    [id('lead_1'), '{"id":"lead_10","path":"/lead_1x"}'],
    [id('71'), '{"id":711}'],
  ])('%j is not in %s', (person, text) => {
    expect(readableIn(person)({ body: Buffer.from(text) })).toBe(false);
  });

  it('is looked for in a time that grows as the text does', () => {
    const long = Buffer.from(
      `"${'x'.repeat(4_000_000)}" "${'1 '.repeat(1_000_000)}" "${"o'".repeat(1_000_000)}"`,
    );
    for (const person of [email('ada@example.com'), phone('442079460958'), id('lead_1')]) {
      expect(readableIn(person)({ body: long })).toBe(false);
    }
  });

  it('is found in rejected deliveries by the id of one of their leads, too', async () => {
    const inbox = await open(':memory:');
    await inbox.take([arrivalOf({ id: 'lead_1', contact: { email: 'ada@example.com' } } as { id: string })]);
    const why = rejection('not_a_lead', 'there is nothing at /lead');
    await inbox.reject([
      {
        delivery: deliveryOf('{"event":{"data":{"object":{"id":"lead_1","name":"Ada Lovelace"}}}}'),
        rejection: why,
      },
      { delivery: deliveryOf('{}'), rejection: rejection('not_a_lead', "no 'id' for ada@example.com") },
      { delivery: deliveryOf('{}'), rejection: why },
    ]);
    const { rejected } = await findPerson(inbox, email('ada@example.com'));
    expect(rejected).toHaveLength(2);
  });

  it('is found in a lead that begins with a byte order mark', async () => {
    const inbox = await open(':memory:');
    const delivery = deliveryOf('\ufeff{"id":"ada","contact":{"email":"ada@example.com"}}');
    await inbox.take([{ leadId: 'ada', delivery }]);
    expect(await findPerson(inbox, email('ada@example.com'))).toMatchObject({ leads: [{ leadId: 'ada' }] });
  });

  it('is found by a phone number that is a number of JSON', async () => {
    const inbox = await open(':memory:');
    await inbox.take([
      { leadId: 'ada', delivery: deliveryOf('{"id":"ada","contact":{"phone":442079460958}}') },
    ]);
    expect(await findPerson(inbox, phone('+44 20 7946 0958'))).toMatchObject({ leads: [{ leadId: 'ada' }] });
  });

  it('is said to be mentioned where only the path or a header of another lead has it', async () => {
    const inbox = await open(':memory:');
    const delivery = deliveryOf('{"id":"bob"}', { path: '/hook?by=ada@example.com' });
    await inbox.take([{ leadId: 'bob', delivery }]);
    expect(await findPerson(inbox, email('ada@example.com'))).toMatchObject({
      leads: [],
      mentionedIn: ['bob'],
    });
  });
});
