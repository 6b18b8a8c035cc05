// Names a head as viz/text/written.py does, and a row of a decoder as model/trace/axes.py does; links to a head as viz/text/written.py does.
import { element } from "./picture.js";

/** A head; layer and head from 0. @typedef {{ site: string, layer: number, head: number }} HeadPlace */

/** A row and a key of a head, from 0. @typedef {[row: number, key: number]} HeadCell */

const HEAD_HREF = /^#(?:head|why)-([a-z.]+)-L(\d+)H(\d+)(?:-R(\d+)K(\d+))?$/;
const HEAD_NAME = /^L(\d+) H(\d+)$/;

/** A head as people read it, counted from 1: "L4 H2". @param {number} layer @param {number} head both from 0 */
export const headLabel = (layer, head) => `L${layer + 1} H${head + 1}`;

/** The link of a head. @param {HeadPlace} head */
export const headHref = ({ site, layer, head }) => `#head-${site}-L${layer + 1}H${head + 1}`;

/** The link that asks why a head looks where it looks: in a cell, or in the one that is kept. @param {HeadPlace} head @param {HeadCell | null} cell */
export const whyHref = (head, cell) =>
  `${headHref(head).replace("#head-", "#why-")}${cell ? `-R${cell[0] + 1}K${cell[1] + 1}` : ""}`;

/** The head of a link, or of one that asks why; null of any other link. @param {string} href @returns {HeadPlace | null} */
export function headOfHref(href) {
  const [, site, layer, head] = HEAD_HREF.exec(href) ?? [];
  return site ? { site, layer: Number(layer) - 1, head: Number(head) - 1 } : null;
}

/** The cell that a link names beside its head, if it does. @param {string} href @returns {{ row: number | null, key: number | null }} */
export function cellOfHref(href) {
  const [row, key] = (HEAD_HREF.exec(href) ?? []).slice(4).map((number) => (number ? Number(number) - 1 : null));
  return { row: row ?? null, key: key ?? null };
}

/** The head of a site that is called so; null of what names no head. @param {string} site @param {string} name @returns {HeadPlace | null} */
export function headNamed(site, name) {
  const [, layer, head] = HEAD_NAME.exec(name) ?? [];
  return layer && site ? { site, layer: Number(layer) - 1, head: Number(head) - 1 } : null;
}

/** A head's name, as a link to it; what names no head stands out without one. @param {string} site @param {string} name */
export function headLink(site, name) {
  const head = headNamed(site, name);
  return head ? element("a", { className: "head-link", href: headHref(head) }, name) : element("b", "", name);
}

/** What a row is called that reads one token and writes another: "weil → es". @param {string} read @param {string} written */
export const rowName = (read, written) => `${read} → ${written}`;
