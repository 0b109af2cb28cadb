// What belongs to the installation: configuration values, mocks of sources, deployment (builtins.md 20, 28.2, 28.3, 30).
import type { Declaration, DeclaredCode } from './declaration.ts';

/** All are called by the name of their service, and the host answers them. */
const asked = (call: string, about: string, errors: readonly DeclaredCode[] = []): Declaration => ({
  call,
  forms: 'S',
  about,
  errors,
  effect: 'suspends',
});

export const installation: readonly Declaration[] = [
  asked('ResourceConfig.get(property: String) => any', 'A configuration value of the namespace.', ['cascade.resourceconfig.unknown']),
  asked(
    'Test.startSourceMocking(sourceName: String, mockQueryProcedure?: String, mockPublishProcedure?: String) => null',
    'From now on procedures stand for a source.',
    ['cascade.resource.not.found', 'cascade.authorization.denied'],
  ),
  asked('Test.stopSourceMocking(sourceName: String) => null', 'The source is asked itself again.', [
    'cascade.resource.not.found',
    'cascade.authorization.denied',
  ]),
  asked(
    'Test.sendMockSourceEvent(sourceName: String, message: any|null, topic?: String) => null',
    'Raises an event as if the source had received it.',
    ['cascade.resource.not.found', 'cascade.authorization.denied', '*'],
  ),
  asked(
    'Deployment.deploy(configName: String, globalId?: String, errorsOnly: Boolean = false) => List',
    'Brings the resources of a configuration to all matching nodes; a record each.',
    ['cascade.resource.not.found', 'cascade.authorization.denied'],
  ),
  asked(
    'Deployment.deployPartitions(configName: String, globalId?: String, errorsOnly: Boolean = false) => List',
    'The same for each partition of a deployment configuration.',
    ['cascade.resource.not.found', 'cascade.authorization.denied'],
  ),
  asked(
    'Deployment.undeploy(configName: String, errorsOnly: Boolean = false) => List',
    'Deletes the resources of a configuration on its nodes.',
    ['cascade.resource.not.found', 'cascade.authorization.denied'],
  ),
  asked(
    'Deployment.undeployPartitions(configName: String, errorsOnly: Boolean = false) => List',
    'The same for each partition of a deployment configuration.',
    ['cascade.resource.not.found', 'cascade.authorization.denied'],
  ),
  asked(
    'Utils.initPushSource(pushSourceName: String = "PushNotification") => Object',
    'The source for messages to devices; made where it is missing.',
    ['cascade.authorization.denied', 'cascade.notification.source', '*'],
  ),
];
