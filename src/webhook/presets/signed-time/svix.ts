import type { Preset } from '../preset.ts';
import { branded } from './standard-webhooks.ts';

/** https://docs.svix.com/receiving/verifying-payloads/how-manual */
export const svix: Preset = { ...branded('svix'), name: 'svix', secret: 'whsec_ and base64' };
