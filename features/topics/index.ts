// The door of topics.
export { topics } from './feature.ts';
export { publishTopic } from './publish.ts';
export { TOPICS, checkRedelivery, checkTopic } from './topics-kind.ts';
