import { runProcess } from './host.ts';
import { main } from './main.ts';

void runProcess(main);
