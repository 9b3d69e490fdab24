import { command } from '../flags/command-spec.ts';
import { args, flags } from './options.ts';

export default command({
  name: 'api',
  summary: 'any request to the service, with the key',
  description:
    "Send one request to the service with the profile's key and print the answer's body as it came; on a terminal it is indented, and the key is hidden.\nGET and HEAD are tried again, other methods are not. No redirect is followed.",
  arguments: args,
  flags,
  everyday: ['method', 'field', 'input', 'header', 'include', 'paginate'],
  examples: [
    "leads api '/api/leads?limit=5'",
    "leads api /api/leads --paginate | jq '.data[].id'",
    "leads api '/api/leads?limit=1' --include",
  ],
  load: () => import('./run.ts'),
});
