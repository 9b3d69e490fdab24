// The tests with the stand-in of json-server again, with the real one.
import { vi } from 'vitest';

vi.mock(import('../support/json-server.ts'), () => import('./real-json-server.ts'));

await import('../doctor/learn-json-server.test.ts');
