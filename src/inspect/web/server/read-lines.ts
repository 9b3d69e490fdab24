/** Lines that are not empty, as they arrive. `onAlive` is called for whatever arrives, empty lines too. */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  onAlive?: () => void,
): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onAlive?.();
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') yield line;
    }
  } finally {
    // A caller that stops reading closes the connection with it; one that already broke off cannot be cancelled.
    await reader.cancel().catch(() => undefined);
  }
}
