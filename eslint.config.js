import { existsSync } from 'node:fs';
import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  // Without the libraries that these tests are about, their types are unknown.
  { ignores: existsSync('test/oracles/node_modules') ? [] : ['test/oracles/'] },
  {
    ignores: [
      'dist/',
      'node_modules/',
      '.cache/',
      'binary/',
      'docs/',
      'test/hosts/.cache/',
      'src/json/wasm/',
      'src/json/scan.wasm.ts',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: [
          './tsconfig.json',
          './src/inspect/web/tsconfig.json',
          './test/browser/tsconfig.json',
          './test/oracles/tsconfig.json',
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // A control character in a pattern is this tool's trade: it scrubs them.
      'no-control-regex': 'off',
      'no-restricted-globals': [
        'error',
        { name: 'process', message: 'Only src/host.ts and the launcher touch the process.' },
        { name: 'fetch', message: 'Import from undici: the global one cannot be configured.' },
      ],
      'no-console': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['src/host.ts', 'src/entry.ts', 'test/**/*.ts', '.config/*.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    // It runs in a browser, where there is no other fetch.
    files: ['src/inspect/web/**'],
    rules: { 'no-restricted-globals': 'off' },
  },
  { files: ['test/{bench,docs,faults,model}/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        Buffer: 'readonly',
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Request: 'readonly',
        require: 'readonly',
        __dirname: 'readonly',
        module: 'writable',
      },
    },
  },
);
