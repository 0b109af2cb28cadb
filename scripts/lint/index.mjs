// What the linter has no rule for: nodes of the syntax tree that are not written in this project, each named by a selector
// (https://eslint.org/docs/latest/extend/selectors), with the reason.

/** Options: `{ selector, message }`, as many as there are. */
const forbidden = {
  meta: {
    type: 'problem',
    schema: {
      type: 'array',
      items: { type: 'object', properties: { selector: { type: 'string' }, message: { type: 'string' } }, additionalProperties: false },
    },
  },
  create: (context) =>
    Object.fromEntries(context.options.map(({ selector, message }) => [selector, (node) => context.report({ node, message })])),
};

export default { meta: { name: 'cascade' }, rules: { forbidden } };
