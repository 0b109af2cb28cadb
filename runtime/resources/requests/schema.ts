// `…/types/<T>/_schema` (resources-and-api.md 1.1): a type as JSON Schema.

import type { ApiReply, ApiRequest } from '../../api.ts';
import { fault } from '../../faults.ts';
import { typeToSchema } from '../../types/index.ts';
import { toJson } from '../../values/index.ts';
import { findType } from '../catalogue.ts';
import type { Namespace, Resource } from '../types.ts';
import { idOf, reply } from './request.ts';

export async function schema(space: Namespace, _resource: Resource, request: ApiRequest): Promise<ApiReply> {
  const id = idOf(request);
  const type = findType(space, id);
  if (!type) throw fault('cascade.resource.not.found', `/types/${id}`);
  return reply(toJson(typeToSchema(type)));
}
