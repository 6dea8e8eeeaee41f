export default {
    printWidth: 120,
    tabWidth: 4,
    singleQuote: true,
    objectWrap: 'collapse',
    overrides: [{ files: '*.css', options: { singleQuote: false } }],
};
