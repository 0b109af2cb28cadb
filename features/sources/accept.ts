// Takes requests to a source's own HTTP address, `/private/<type>/<namespace>/<source>`. They carry no token of the service: the protocol
// checks them instead.
import { CascadeError, apiError } from '../../model/errors/index.ts';
import type { SourceArrival } from '../../resources/api.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { inflated } from '../../resources/requests/index.ts';
import { isNoted } from './inbound.ts';
import { type InboundReply, protocolOf } from './protocols/index.ts';
import { own } from './protocols/fields.ts';
import { isActive, isMocked, unresolvedRule } from './state.ts';
import { sourcesOf } from './namespace-state.ts';

/**
 * @throws cascade.resource.not.found for any source that cannot take the request, so that a stranger learns nothing more; errors of the
 *   protocol
 */
export async function accept(space: Namespace, { protocol, source: name, headers, address, body }: SourceArrival): Promise<InboundReply> {
  const source = space.catalog.definitions.get('sources', name);
  const type = source && String(own(source, 'type'));
  const known = type !== undefined && type.toLowerCase() === protocol && protocolOf(type)?.takesRequests === true;
  if (!source || !known || !isActive(source) || isMocked(source))
    throw apiError('cascade.resource.not.found', `/private/${protocol}/${space.name}/${name}`);
  if (unresolvedRule(space, source) !== null) throw apiError('cascade.source.unavailable', name, 'a rule of its pipeline is not there');
  const connection = await sourcesOf(space).connectionOf(name);
  if (!connection.accept) throw apiError('cascade.source.unavailable', name, 'it is connecting');
  try {
    const sent = Buffer.from(await body());
    const content = (most: number) => (sent.length > most ? tooLarge(most) : inflated(sent, headers['content-encoding'], most));
    return await connection.accept({ method: 'POST', headers, address, body: sent, content });
  } catch (error) {
    if (!isNoted(error) && (!(error instanceof CascadeError) || error.status >= 500))
      sourcesOf(space).counts.add(name, 'failed', space.clock.now());
    throw error;
  }
}

function tooLarge(most: number): never {
  throw apiError('cascade.request.body.too.large', most);
}
