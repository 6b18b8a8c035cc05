// Whose message of a chat labels are of, or which text of a pair: said in words, and as much of a name as has room.
import { _, sentenceParts } from "./messages.js";
import { element, tokenElement } from "./picture.js";

/** @typedef {[role: string, begin: number, end: number, colour: string]} RoleRun labels from `begin` to before `end` */

// A letter of a name, about, and what a run has beside its name, in CSS pixels.
const [LETTER, BESIDE_NAME] = [7, 6];

/** As much of a role's name as has room: all, its first letter, or nothing. @param {string} role @param {number} room */
export function nameIn(role, room) {
  if (room >= role.length * LETTER + BESIDE_NAME) return role;
  return room >= LETTER + BESIDE_NAME ? role[0].toUpperCase() : "";
}

/** Whose a label is: a role, or the template; "" where there are no roles. @param {RoleRun[]} runs @param {number} index */
export function roleOf(runs, index) {
  if (!runs.length) return "";
  return runs.find(([, begin, end]) => begin <= index && index < end)?.[0] ?? _("template");
}

/** @param {string} colour */
export const roleBar = (colour) => element("span", { className: "role-bar", style: `background:${colour}` });

/** Bars with the names of roles, where there is no room for these beside what is of them. @param {Map<string, string>} colours of roles */
export const roleKeyParts = (colours) =>
  [...colours].map(([role, colour]) => element("span", "role-key-part", roleBar(colour), element("span", "", role)));

/** A token with whose it is, as a text. @param {string} token @param {string} role */
export const withRole = (token, role) => (role ? _("{token} ({role})", { token, role }) : token);

/** A token with whose it is, as an element. @param {string | HTMLElement} token @param {string} role @param {string} [className] */
export function tokenWithRole(token, role, className) {
  const shown = typeof token === "string" ? tokenElement(token, className) : token;
  return role ? element("span", "", ...sentenceParts(_("{token} ({role})"), { token: shown, role })) : shown;
}

/** Whose message looks at whose; "" where there are no roles. @param {string} query @param {string} key */
export const rolesLooking = (query, key) => (query && key ? _("{query} attends to {key}", { query, key }) : "");
