export default {
    printWidth: 120,
    tabWidth: 4,
    singleQuote: true,
    overrides: [{ files: '*.css', options: { singleQuote: false } }],
};
