import { join } from 'node:path';

/** Apart from what reads it, so that completion loads no more than the name. */
export const configFile = (configDir: string): string => join(configDir, 'config.json');
