// What belongs to the installation: configuration values, mocks of sources, deployment (builtins.md 20, 28.2, 28.3, 30).
import type { Declaration } from './declaration.ts';

/** All are called by the name of their service, and the host answers them. */
const asked = (call: string, about: string): Declaration => ({ call, forms: 'S', about, effect: 'suspends' });

export const installation: readonly Declaration[] = [
  asked('ResourceConfig.get(property: String) => any', 'A configuration value of the namespace.'),
  asked(
    'Test.startSourceMocking(sourceName: String, mockQueryProcedure?: String, mockPublishProcedure?: String) => null',
    'From now on procedures stand for a source.',
  ),
  asked('Test.stopSourceMocking(sourceName: String) => null', 'The source is asked itself again.'),
  asked(
    'Test.sendMockSourceEvent(sourceName: String, message: any|null, topic?: String) => null',
    'Raises an event as if the source had received it.',
  ),
  asked(
    'Deployment.deploy(configName: String, globalId?: String, errorsOnly: Boolean = false) => List',
    'Brings the resources of a configuration to all matching nodes; a record each.',
  ),
  asked(
    'Deployment.deployPartitions(configName: String, globalId?: String, errorsOnly: Boolean = false) => List',
    'The same for each partition of a deployment configuration.',
  ),
  asked(
    'Deployment.undeploy(configName: String, errorsOnly: Boolean = false) => List',
    'Deletes the resources of a configuration on its nodes.',
  ),
  asked(
    'Deployment.undeployPartitions(configName: String, errorsOnly: Boolean = false) => List',
    'The same for each partition of a deployment configuration.',
  ),
  asked(
    'Utils.initPushSource(pushSourceName: String = "PushNotification") => Object',
    'The source for messages to devices; made where it is missing.',
  ),
];
