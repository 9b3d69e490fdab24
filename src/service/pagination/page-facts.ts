import type { Envelope } from '../../json/page-envelope.ts';

/** What a page tells beside its leads, known when it is complete. */
export interface PageFacts {
  /** The address that answered, redirects followed. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly envelope: Envelope;
  /** Records on the page. */
  readonly count: number;
  /** Id of its last record, if that has one. */
  readonly lastId: string | undefined;
}
