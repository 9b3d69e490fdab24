import { command, serviceExits } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'login',
  summary: 'store an API key, checked with one real call',
  flags,
  allowsNewProfile: true,
  exits: serviceExits,
  examples: ['leads login --base-url https://api.example.com', 'leads login --api-key-file key.txt'],
  load: () => import('./run.ts'),
});
