/** Where the answers at a path of the server come from. */
export interface AnswerSource {
  /** Throws a `Problem`, or an `AbortError` when it was cancelled. */
  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer>;
}
