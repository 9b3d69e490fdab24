import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

// What is written for a person: another text would be as right.
const messageTexts = {
  shouldIgnore({ node }) {
    return isText(node) || isHint(node) ? 'a text for a person' : undefined;
  },
};

const isText = ({ type, value, quasis }) => {
  const text = type === 'StringLiteral' ? value : (quasis ?? []).map((part) => part.value.raw).join('…');
  return /[a-z',]{2} [a-z']/i.test(text);
};

const isHint = ({ type, properties }) =>
  type === 'ObjectExpression' && properties.length === 1 && properties[0].key?.name === 'hint';

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'message-texts', messageTexts)];
