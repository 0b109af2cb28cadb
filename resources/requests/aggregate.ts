// AGGREGATE of a client (resources-and-api.md 2.9).

import type { Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { aggregate as runPipeline } from '../aggregate/index.ts';
import type { Namespace, Resource } from '../catalog/index.ts';
import { mostRowsOf } from '../instances/index.ts';

/** In the body, else in the parameter; a body of null alone is one that is refused as such. @throws cascade.request.parameter.invalid */
export function pipelineIn({ object, parameters }: ApiRequest): Value {
  const pipeline = object ?? parameters['pipeline'] ?? object;
  if (pipeline === undefined) throw apiError('cascade.request.parameter.invalid', 'pipeline', null);
  return pipeline;
}

export async function aggregate(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const pipeline = pipelineIn(request);
  const isTyped = request.federation?.isTyped === true;
  const written = {
    streams: request.streams === true,
    exactReals: request.exactReals === true,
    isTyped,
    most: mostRowsOf(request.parameters),
  };
  return { status: 200, ...(await runPipeline(space, resource, pipeline, actor, written)), ...(isTyped && { isTyped }) };
}
