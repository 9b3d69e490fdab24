/** The program's entry: `.config/build.mjs` bundles it as `dist/main.cjs`. */
import { runProcess } from './host.ts';
import { main } from './main.ts';

void runProcess(main);
