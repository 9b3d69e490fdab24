import { runProcess } from './context.ts';
import { main } from './main.ts';

void runProcess(main);
