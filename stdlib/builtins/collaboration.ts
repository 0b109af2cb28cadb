// What people and programs do together: chats, tracks, collaborations and their activities (builtins.md 25, 26, 29).
import type { Declaration, DeclaredCode } from './declaration.ts';

/** All are called by the name of their service, and the host answers them. */
const asked = (call: string, about: string, errors: readonly DeclaredCode[] = []): Declaration => ({
  call,
  forms: 'S',
  about,
  errors,
  effect: 'suspends',
});

export const collaboration: readonly Declaration[] = [
  asked(
    'Chat.createChatroom(situationId?: String, topic: String, users: List) => String',
    'Opens a chat room with its first message; its id.',
    ['cascade.lang.range'],
  ),
  asked('Chat.addUser(chatId: String, usersToBeAdded: String|List) => List', 'Adds members to a chat room; all members then.', [
    'cascade.resource.not.found',
    'cascade.lang.range',
  ]),
  asked('Chat.removeUser(chatId: String, usersToRemove: String|List) => List', 'Takes members out of a chat room; all members then.', [
    'cascade.resource.not.found',
    'cascade.lang.range',
  ]),
  asked(
    'Chat.sendMessage(chatId: String, type: String, msg: String|null, metadata?: Object, userList?: List, sender?: String) => Object',
    'Adds a message to a chat room and publishes it on /ars_chat/<chatId>. Only an admin names a sender other than itself.',
    ['cascade.resource.not.found', 'cascade.lang.range', 'cascade.authorization.denied'],
  ),
  asked('Chat.deleteChatroom(chatId: String) => Boolean', 'Deletes a chat room with its messages; whether there was one.'),
  asked(
    'Chat.updateChatrooms(username: String, oldChatRooms?: List) => Object',
    'What is new for a user who knows these rooms: {changed, deleted}. Of another user: for admins.',
    ['cascade.lang.range', 'cascade.authorization.denied'],
  ),
  asked(
    'LocationTracking.trackCollaborator(activity: String, user: String, level: String = "fine", distanceFilter: Real = 200.0, desiredAccuracy: Real = 100.0, destination?: Object, destinationRadius: Real = 500.0, arrivalTopic?: String, reportingTopic: String) => Object',
    'Asks the devices of a user for positions on reportingTopic and follows them, until the destination is reached.',
    ['cascade.lang.range', 'cascade.topic.name.invalid'],
  ),
  asked('LocationTracking.untrackCollaborator(active: String|Object, user: String) => Boolean', 'Ends a track; whether there was one.', [
    'cascade.lang.range',
  ]),
  asked(
    'CollaborationUtils.createCollaboration(name: String, entities?: Object, collaborators?: Object) => Object',
    'A new collaboration, active.',
    ['cascade.lang.range', 'cascade.resource.not.found'],
  ),
  asked('CollaborationUtils.getCollaboration(id: String) => Object', 'A collaboration, or null.'),
  asked(
    'CollaborationUtils.findByEntity(role: String, entityRef: String|Object, activeOnly: Boolean = true) => List',
    'The collaborations in which an instance has this role.',
    ['cascade.lang.range'],
  ),
  asked(
    'CollaborationUtils.setEntity(id: String, role: String, entityRef: String|Object|null) => Object',
    'Gives a role to an instance; null takes the role away.',
    ['cascade.resource.not.found', 'cascade.lang.range', 'cascade.collaboration.inactive'],
  ),
  asked('CollaborationUtils.assignCollaborator(id: String, role: String, username: String) => Object', 'Gives a role to a user.', [
    'cascade.resource.not.found',
    'cascade.lang.range',
    'cascade.collaboration.inactive',
  ]),
  asked('CollaborationUtils.setResult(id: String, activity: String, value: any|null) => Object', 'Keeps the result of an activity.', [
    'cascade.resource.not.found',
    'cascade.lang.range',
    'cascade.collaboration.inactive',
  ]),
  asked(
    'CollaborationUtils.closeCollaboration(id: String, status: String = "completed") => Object',
    'Ends a collaboration as completed or failed, with its tracks and pending notifications.',
    ['cascade.resource.not.found', 'cascade.lang.range'],
  ),
  asked(
    'ActivityPattern.define(name: String, procedure: String, required?: List, defaults?: Object) => Object',
    'Makes a procedure a step of collaborations, under a name. For admins.',
    ['cascade.activitypattern.reserved', 'cascade.lang.range', 'cascade.lang.procedure.unknown', 'cascade.authorization.denied'],
  ),
  asked('ActivityPattern.list() => List', 'All activity patterns.'),
  asked('ActivityPattern.get(name: String) => Object', 'An activity pattern, or null.'),
  asked('ActivityPattern.remove(name: String) => Boolean', 'Removes an activity pattern; whether there was one. For admins.', [
    'cascade.activitypattern.reserved',
    'cascade.authorization.denied',
  ]),
  asked('ActivityPattern.validate(name: String, config: Object) => List', 'The properties that a configuration lacks.', [
    'cascade.resource.not.found',
  ]),
  asked(
    'ActivityPattern.run(name: String, collaborationId: String, activity: String, config?: Object, event?: any) => any',
    'Carries out a step of a collaboration and keeps its value as the result of the activity.',
    ['cascade.resource.not.found', 'cascade.lang.range', 'cascade.collaboration.inactive', 'cascade.activitypattern.config', '*'],
  ),
  asked(
    'CollaborationGeneration.generate(definition: Object) => Object',
    'Makes a rule that starts a collaboration with its activities: {rule, activities}. For those who may write rules.',
    ['cascade.resource.not.found', 'cascade.lang.range', 'cascade.activitypattern.config', '*'],
  ),
  asked('CollaborationGeneration.list() => List', 'The definitions of all generated rules.'),
  asked(
    'CollaborationGeneration.remove(name: String) => Boolean',
    'Removes a generated rule and its definition; whether there was one. For those who may delete rules.',
    ['cascade.authorization.denied'],
  ),
];
