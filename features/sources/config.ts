// Checks the config of a source (integrations.md 1.1): its fields by the protocol, and whether its addresses may be reached.
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { EgressError, isNamedSecret, type Outlet } from '../../platform/egress/index.ts';
import type { Direction, Protocol } from './protocols/index.ts';
import { own } from './protocols/fields.ts';

export const DIRECTIONS: readonly string[] = ['SOURCE', 'SINK', 'BOTH'] satisfies Direction[];

/**
 * Unknown fields are kept; null means "not set"; `@secrets(…)` satisfies any field.
 * @param config including its secrets
 * @throws cascade.source.config.invalid, cascade.source.address.refused
 */
export function checkConfig(protocol: Protocol, config: ObjectValue, outlet: Outlet): void {
  const isThere = (name: string): boolean => own(config, name) !== null && own(config, name) !== '';
  for (const names of protocol.required)
    if (!names.some(isThere)) throw apiError('cascade.source.config.invalid', names[0] ?? '', 'missing');
  for (const [name, fits] of Object.entries(protocol.fields)) {
    const value = own(config, name);
    const wrong = value === null || isNamedSecret(value) ? null : fits(value);
    if (wrong !== null) throw apiError('cascade.source.config.invalid', name, wrong);
  }
  const wrong = protocol.crossCheck?.(config);
  if (wrong) throw apiError('cascade.source.config.invalid', ...wrong);
  for (const host of protocol.hosts(config)) checkHost(outlet, host);
}

/** @throws cascade.source.address.refused for a literal address that may not be reached */
function checkHost(outlet: Outlet, host: string): void {
  try {
    outlet.checkLiteral(host);
  } catch (error) {
    throw error instanceof EgressError ? apiError('cascade.source.address.refused', host) : error;
  }
}
