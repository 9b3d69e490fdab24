/** Sets the key as the newest of its map. Of more keys than `most`, the oldest is forgotten. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest = key] = map.keys();
  if (map.size > most) map.delete(oldest);
}
