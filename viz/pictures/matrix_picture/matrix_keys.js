// A matrix by the keyboard: arrow keys visit cells, which are read out, other keys keep them and zoom.
import { roleOf, tokenWithRole } from "../shared/chat_roles.js";
import { consume, isCombination } from "../shared/items.js";
import { _, sentenceParts } from "../shared/messages.js";
import { clamp, element, isPresented, rowElement } from "../shared/picture.js";
import { whyParts } from "../shared/why_link.js";
import { shareAt, stepsOf } from "./matrix_reading.js";
import { showing } from "./matrix_view.js";

/** @import { MatrixPicture } from "./matrix.js" */

// One press of + or −.
export const STEP = 0.7;

export class MatrixKeys {
  status = element("p", { className: "status", role: "status", dataset: { notInPicture: "" } });
  cursor = element("div", { className: "cell-frame", hidden: true, dataset: { notInPicture: "" } });
  /** The cell that one is on. @type {{ row: number, column: number } | null} */ visited = null;

  /** @param {MatrixPicture} picture */
  constructor(picture) {
    this.picture = picture;
    picture.stage.addEventListener("keydown", (event) => this.press(event));
    picture.stage.addEventListener("blur", () => {
      this.cursor.hidden = true;
      picture.pointAt(null, null);
    });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { header, spans, sizes, gestures } = this.picture;
    if (isCombination(event) || !sizes) return;
    // A clicker turns the screens, and Escape leaves them where it has nothing else to do.
    if (event.key.startsWith("Page") && isPresented(this.picture.root)) return;
    if (event.key === "Escape" && header.kept.every((side) => side === null)) return;
    const [keptRow, keptColumn] = header.kept;
    const { row, column } = this.visited ?? { row: keptRow ?? 0, column: keptColumn ?? 0 };
    const lastColumn = spans.column.count - 1;
    const steps = stepsOf(Math.max(1, Math.floor(spans.row.length)), lastColumn);
    /** @type {Record<string, () => void>} */
    const acts = {
      Enter: () => this.picture.keep({ row, column }),
      " ": () => this.picture.keep({ row, column }),
      Escape: () => this.picture.keep({ row: keptRow, column: keptColumn }),
      "+": () => gestures.zoom(STEP, this.centre()),
      "-": () => gestures.zoom(1 / STEP, this.centre()),
      0: () => this.picture.showWhole(),
    };
    if (event.key in steps) {
      // The first press only shows where one is.
      const [down, across] = this.visited ? steps[event.key] : [0, 0];
      this.visit(clamp(0, row + down, spans.row.count - 1), clamp(0, column + across, lastColumn));
    } else if (event.key in acts) acts[event.key]();
    else return;
    consume(event);
  }

  /** @param {number} row @param {number} column */
  visit(row, column) {
    const { spans } = this.picture;
    this.visited = { row, column };
    this.picture.spans = { row: showing(spans.row, row), column: showing(spans.column, column) };
    this.picture.draw();
    this.picture.tooltip.hide();
    this.picture.frame(this.cursor, row, column);
    this.picture.pointAt(row, column);
    this.tell();
  }

  /** Where the visited cell is seen, for zooming around it. */
  centre() {
    if (!this.visited) return undefined;
    const { row, column } = this.picture.spans;
    return { down: shareAt(row, this.visited.row), across: shareAt(column, this.visited.column) };
  }

  /** Read the visited cell out. */
  tell() {
    if (!this.visited) return;
    const { row, column } = this.visited;
    const { rowTokens, columnTokens, rowRoles, columnRoles, rowsWrite, number } = this.picture.header;
    const value = this.picture.format(row, column);
    const query = tokenWithRole(rowElement(rowTokens[row], rowsWrite), roleOf(rowRoles, row));
    const key = tokenWithRole(columnTokens[column], roleOf(columnRoles, column));
    const said = { query, key, number, value };
    const why = whyParts(this.picture.header.focus, row, column);
    this.status.replaceChildren(...sentenceParts(_("{query} attends to {key}: {number} {value}"), said), ...why);
  }
}
