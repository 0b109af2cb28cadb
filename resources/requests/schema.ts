// `…/types/<T>/_schema` (resources-and-api.md 1.1): a type as JSON Schema.

import type { ApiReply, ApiRequest } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { typeToSchema } from '../../model/types/index.ts';
import { toJson } from '../../model/values/index.ts';
import { findType, type Namespace, type Resource } from '../catalog/index.ts';
import { idOf, reply } from './request.ts';

export async function schema(space: Namespace, _resource: Resource, request: ApiRequest): Promise<ApiReply> {
  const id = idOf(request);
  const type = findType(space, id);
  if (!type) throw apiError('cascade.resource.not.found', `/types/${id}`);
  return reply(toJson(typeToSchema(type)));
}
