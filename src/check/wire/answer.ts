/** What came back for one request of a probe. That nothing came is an outcome, not an error. */
export type Answer =
  | {
      readonly answered: true;
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      /** The first 64 KiB of the body. */
      readonly body: Buffer;
      /** False when the body had not ended, and was still shorter than that, when the time was up. */
      readonly isWhole: boolean;
      /** From connecting to the end of the answer, in milliseconds. */
      readonly ms: number;
    }
  | {
      readonly answered: false;
      /** `timeout`, `aborted`, or the system's, node's or TLS's own code such as `ECONNRESET`. */
      readonly code: string;
      readonly ms: number;
    };

/** Of an answer's body, in bytes: no receiver can fill the memory. */
export const keptBytes = 65_536;

/** The receiver ended the connection, or its process, instead of answering. */
export const isCutOff = (answer: Answer): boolean =>
  !answer.answered && /^(ECONNRESET|EPIPE|ECONNREFUSED|HPE_.*|closed)$/.test(answer.code);
