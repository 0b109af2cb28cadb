// The parameters of requests: what they mean, and the schemas of their values.
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import { CHECKS, isArray, isBoolean, isInteger, isStrings, type ParameterName } from '../parameters.ts';
import { json } from './components.ts';
import { parameterExample } from './examples.ts';

const DESCRIPTIONS: Record<ParameterName, string> = {
  where: 'The condition',
  props: 'Properties to answer; [] means all',
  sort: 'Property to 1 or -1, in order',
  page: 'From 1',
  limit: 'Instances in a page',
  count: 'Whether X-Total-Count is wanted',
  pipeline: 'The stages',
  upsert: 'Whether what is there is changed',
  active: 'Of a rule',
  stream: 'Whether a sequence is sent while it is made',
  maxBufferSize: 'Bytes that are sent together',
  maxFlushInterval: 'Milliseconds after which they are sent; 0: by size alone, -1: each element',
};

/** The schema of a parameter's value. */
export function parameterSchema(name: ParameterName): ObjectValue {
  const check = CHECKS[name];
  if (check === isBoolean) return { type: 'boolean' };
  if (check === isInteger)
    return { type: 'integer', ...(name === 'page' && { minimum: 1 }), ...(name === 'limit' && { minimum: 0, maximum: 10_000 }) };
  return check === isStrings ? { type: 'array', items: { type: 'string' } } : { type: check === isArray ? 'array' : 'object' };
}

/** The same with what it means, where parameters are values (WebSocket). */
export const describedParameter = (name: ParameterName): ObjectValue => ({ description: DESCRIPTIONS[name], ...parameterSchema(name) });

/** Numbers and Booleans are written plainly in an address, all others as JSON. @param properties of the resource, for examples */
export function queryParameter(name: ParameterName, properties: readonly string[]): ObjectValue {
  const example = parameterExample(name, properties);
  const schema = parameterSchema(name);
  const isPlain = schema['type'] === 'boolean' || schema['type'] === 'integer';
  return { name, in: 'query', description: DESCRIPTIONS[name], ...(isPlain ? { schema, example } : { content: json(schema, example) }) };
}
