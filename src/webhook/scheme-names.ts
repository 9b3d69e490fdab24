/** Every scheme, apart from the code that signs and verifies: help names them and loads nothing else. */
export const schemeNames = [
  'token',
  'standard-webhooks',
  'svix',
  'stripe',
  'github',
  'slack',
  'shopify',
  'rfc9421',
  'custom',
] as const;
