/**
 * Characters that can drive a terminal or reorder what it shows: C0 and C1 controls (ESC, CR, BEL, CSI, OSC …),
 * DEL, bidirectional controls, line and paragraph separators, zero-width joins' relatives that hide text, and tags.
 */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

/** Text from outside as it may be drawn on a terminal: nothing in it moves the cursor or hides. */
export function sanitize(text: string): string {
  return text.replace(unsafe, (found) => (found === '\n' || found === '\t' ? ' ' : '\ufffd'));
}

/** JSON text as it may be drawn on a terminal: the same value, with every unsafe character as a `\u` escape. */
export function escapeJson(json: string): string {
  return json.replace(unsafe, (found) =>
    found === '\n'
      ? found
      : Array.from(
          { length: found.length },
          (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`,
        ).join(''),
  );
}
