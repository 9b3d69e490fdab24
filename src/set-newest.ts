/** Sets the key as the newest of its map. Of more keys than `limit`, the oldest is forgotten. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest = key] = map.keys();
  if (map.size > limit) map.delete(oldest);
}
