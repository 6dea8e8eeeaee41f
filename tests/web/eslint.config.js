import js from '@eslint/js';
import globals from 'globals';

export default [
    js.configs.recommended,
    { files: ['**/src/web/**/*.js'], languageOptions: { globals: globals.browser } },
    { files: ['**/tests/web/**/*.js'], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
    {
        rules: {
            eqeqeq: 'error',
            'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
            'no-var': 'error',
            'prefer-const': 'error',
            'max-lines-per-function': ['error', { max: 60, skipComments: true }],
            'max-params': ['error', 5],
        },
    },
];
