// The grid of all heads, alone in an element of the page.
// Data: the payload of component.py. Sends back the trigger `head`: { layer, head }.
import { mount } from "../shared/mount.js";
import { HeadGrid } from "./grid.js";

export default mount(".head-grid", HeadGrid);
