// One matrix, alone in an element of the page.
// Data: the payload of component.py. Sends back the trigger `kept`: { row, column, axes }.
import { mount } from "../shared/mount.js";
import { MatrixPicture } from "./matrix.js";

export default mount(".matrix-picture", MatrixPicture);
