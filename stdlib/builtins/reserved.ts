// Built-ins of the language that this version does not have yet (builtins.md 10 and 19 to 30). Their names are kept for them, so that
// no program takes one (builtins.md 0.1 C8); a call is refused as one of an unknown procedure (stdlib/isolate/runtime.ts).
import type { BuiltinInfo } from '../../compiler/types.ts';

/** Each with its parameters; `?` optional. All are called by the name of their service. */
const SIGNATURES = `
Utils.initPushSource(pushSourceName?) Context.serverUri() Context.buildInfo()
Concurrent.Map() Concurrent.Cache(maximumSize?,expireAfterAccessMs?,expireAfterWriteMs?) Concurrent.Value() Concurrent.Lock()
Event.request(serviceEventName,data,timeout?)
Notification.sendPayload(pushSourceName,messageId,category,title,payload,users) Notification.retractPayload(msgId,excludeList?)
Notification.deletePayloadMessages(msgIds) Notification.listPending(username?)
Client.sendByName(pushSourceName,title,subtitle,users,clientName)
Chat.createChatroom(situationId?,topic,users) Chat.addUser(chatId,usersToBeAdded) Chat.removeUser(chatId,usersToRemove)
Chat.sendMessage(chatId,type,msg,metadata?,userList?,sender?) Chat.deleteChatroom(chatId) Chat.updateChatrooms(username,oldChatRooms?)
LocationTracking.trackCollaborator(activity,user,level?,distanceFilter?,desiredAccuracy?,destination?,destinationRadius?,arrivalTopic?,reportingTopic)
LocationTracking.untrackCollaborator(active,user)
ResourceConfig.get(property)
Test.startSourceMocking(sourceName,mockQueryProcedure?,mockPublishProcedure?) Test.stopSourceMocking(sourceName)
Test.sendMockSourceEvent(sourceName,message,topic?)
CollaborationUtils.createCollaboration(name,entities?,collaborators?) CollaborationUtils.getCollaboration(id)
CollaborationUtils.findByEntity(role,entityRef,activeOnly?) CollaborationUtils.setEntity(id,role,entityRef)
CollaborationUtils.assignCollaborator(id,role,username) CollaborationUtils.setResult(id,activity,value)
CollaborationUtils.closeCollaboration(id,status?)
ActivityPattern.define(name,procedure,required?,defaults?) ActivityPattern.list() ActivityPattern.get(name) ActivityPattern.remove(name)
ActivityPattern.validate(name,config) ActivityPattern.run(name,collaborationId,activity,config?,event?)
CollaborationGeneration.generate(definition) CollaborationGeneration.list() CollaborationGeneration.remove(name)
Deployment.deploy(configName,globalId?,errorsOnly?) Deployment.deployPartitions(configName,globalId?,errorsOnly?)
Deployment.undeploy(configName,errorsOnly?) Deployment.undeployPartitions(configName,errorsOnly?)
`;

/** The compiler's entries for them. */
export function reservedBuiltins(): [string, BuiltinInfo][] {
  return [...SIGNATURES.matchAll(/([\w.]+)\(([^)]*)\)/g)].map(([, name = '', list = '']) => {
    const params = list === '' ? [] : list.split(',').map((text) => ({ name: text.replace('?', ''), optional: text.endsWith('?') }));
    return [name, { name, forms: 'S', params, effect: 'suspends' }];
  });
}
